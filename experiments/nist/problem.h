#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "sdm/base/types.h"
#include "sdm/descent/refine.h"

namespace sdm::experiments {

/// The regression function of one NIST StRD problem and its derivatives by the parameters.
struct NistModel {
  using Function = void (*)(ConstMatrixRef<double> x, const double* beta, double* out);

  std::string name;
  Index parameters = 0;
  bool log_response = false;    // Nelson is fitted to log(y)
  Function values = nullptr;    // one value for each column of x
  Function jacobian = nullptr;  // column-major: a row for each column of x, a column a parameter
  std::size_t predictors = 1;   // rows of x
};

/// The 27 models, from lower to higher difficulty as NIST lists them.
const std::vector<NistModel>& nist_models();

/// One problem with its data.
struct NistProblem {
  NistModel model;
  Matrix<double> x;  // predictors, an observation in each column
  Vector<double> y;
  std::array<Vector<double>, 2> starts;
  Vector<double> certified;
  double certified_rss = 0;
  std::string remark;  // what had to be put right in the file; empty as a rule

  Index observations() const { return y.size(); }
  Index parameters() const { return model.parameters; }

  /// h(beta).
  Vector<double> values(ConstVectorRef<double> beta) const;
  /// |h(beta) - y|^2.
  double rss(ConstVectorRef<double> beta) const;
  /// Correct digits of the worst parameter: min of -log10(relative error), from 0 to 11, as many as
  /// NIST certifies.
  double certified_digits(ConstVectorRef<double> beta) const;
};

/// h(beta) - y and its Jacobian for `refine`. Needs a problem that outlives it.
inline auto refine_problem(const NistProblem& problem) {
  return RefineProblem{problem.observations(),
                       [&problem](const auto& beta, auto&& out) {
                         problem.model.values(problem.x, beta.data(), out.data());
                         out -= problem.y;
                       },
                       [&problem](const auto& beta, auto&& out) {
                         problem.model.jacobian(problem.x, beta.data(), out.data());
                       }};
}

/// Reads a NIST `.dat` file as published.
/// Throws Error naming file and line if it is not one.
NistProblem read_nist(const std::filesystem::path& file);

}  // namespace sdm::experiments
