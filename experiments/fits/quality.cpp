#include "experiments/fits/quality.h"

#include <algorithm>
#include <cmath>

namespace sdm::experiments {
namespace {

struct Errors {
  double root_mean_square, median;
};

Errors errors_of(const Matrix<double>& answers, const Matrix<double>& truth, Index parameter) {
  std::vector<double> sizes(static_cast<std::size_t>(truth.cols()));
  double squares = 0;
  for (Index i = 0; i < truth.cols(); ++i) {
    const double error = std::abs(answers(parameter, i) - truth(parameter, i));
    sizes[static_cast<std::size_t>(i)] = std::isnan(error) ? HUGE_VAL : error;
    squares += error * error;
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return {std::sqrt(squares / static_cast<double>(truth.cols())), *middle};
}

}  // namespace

bool is_wrong(ConstVectorRef<double> answer, ConstVectorRef<double> truth,
              ConstVectorRef<double> standard_error) {
  for (Index j = 0; j < truth.size(); ++j)
    if (!(std::abs(answer[j] - truth[j]) <= kWrong * standard_error[j])) return true;
  return false;
}

FitQuality judge_fits(const Matrix<double>& answers, const std::vector<bool>& accepted,
                      const Matrix<double>& best, const Matrix<double>& truth,
                      const Matrix<double>& standard_errors) {
  FitQuality quality;
  const auto parameters = static_cast<double>(truth.rows());
  for (Index j = 0; j < truth.rows(); ++j) {
    const Errors ours = errors_of(answers, truth, j), theirs = errors_of(best, truth, j);
    quality.rmse_ratio += ours.root_mean_square / theirs.root_mean_square / parameters;
    quality.median_ratio += ours.median / theirs.median / parameters;
  }
  Index wrong = 0, silent = 0, refused = 0;
  for (Index i = 0; i < truth.cols(); ++i) {
    const bool is_accepted = accepted[static_cast<std::size_t>(i)];
    const bool bad = is_wrong(answers.col(i), truth.col(i), standard_errors.col(i));
    wrong += bad;
    silent += bad && is_accepted;
    refused += !is_accepted;
  }
  const double percent = 100 / static_cast<double>(truth.cols());
  quality.wrong_percent = percent * static_cast<double>(wrong);
  quality.silent_wrong_percent = percent * static_cast<double>(silent);
  quality.refused_percent = percent * static_cast<double>(refused);
  return quality;
}

}  // namespace sdm::experiments
