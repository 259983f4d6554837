#pragma once

#include <vector>

#include "sdm/base/types.h"

namespace sdm::experiments {

/// Standard errors that an answer may be off in any parameter before it is called wrong.
inline constexpr double kWrong = 5;

/// What answers are worth, a column each: against the truth, against the best fits and against what
/// they say of themselves.
struct FitQuality {
  /// The mean over the parameters of root mean square error over that of the best fits. A few fits
  /// that ran away rule it; the median's tells of the others.
  double rmse_ratio = 0, median_ratio = 0;
  /// Wrong: a parameter is more than kWrong standard errors from the truth, or not finite. Silent:
  /// wrong and accepted.
  double wrong_percent = 0, silent_wrong_percent = 0, refused_percent = 0;
};

/// Whether a parameter is more than kWrong standard errors from the truth, or not finite.
bool is_wrong(ConstVectorRef<double> answer, ConstVectorRef<double> truth,
              ConstVectorRef<double> standard_error);

/// `accepted`: whether the method stands by each answer. Needs at least one answer.
FitQuality judge_fits(const Matrix<double>& answers, const std::vector<bool>& accepted,
                      const Matrix<double>& best, const Matrix<double>& truth,
                      const Matrix<double>& standard_errors);

}  // namespace sdm::experiments
