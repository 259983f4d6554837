#include "experiments/nist/ceres.h"

#include "sdm/base/error.h"

#ifdef SDM_HAVE_CERES
#include <ceres/ceres.h>
#include <glog/logging.h>
#endif

namespace sdm::experiments {

#ifdef SDM_HAVE_CERES

namespace {

class NistCost : public ceres::CostFunction {
 public:
  explicit NistCost(const NistProblem& problem)
      : problem_(problem), columns_(problem.observations(), problem.parameters()) {
    set_num_residuals(static_cast<int>(problem.observations()));
    mutable_parameter_block_sizes()->push_back(static_cast<int>(problem.parameters()));
  }

  bool Evaluate(double const* const* parameters, double* residuals,
                double** jacobians) const override {
    Eigen::Map<Vector<double>> r(residuals, problem_.observations());
    problem_.model.values(problem_.x, parameters[0], residuals);
    r -= problem_.y;
    if (!r.allFinite()) return false;
    if (jacobians == nullptr || jacobians[0] == nullptr) return true;
    problem_.model.jacobian(problem_.x, parameters[0], columns_.data());
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        jacobians[0], columns_.rows(), columns_.cols()) = columns_;
    return columns_.allFinite();
  }

 private:
  const NistProblem& problem_;
  mutable Matrix<double> columns_;  // one solve runs in one thread
};

}  // namespace

const bool kHaveCeres = true;

std::string ceres_settings() {
  return "Ceres " CERES_VERSION_STRING
         ", Levenberg-Marquardt, DENSE_QR, all tolerances 1e-20, up to 10000 iterations, the same "
         "derivatives as refine";
}

PeerAnswer solve_ceres(const NistProblem& problem, const Vector<double>& start) {
  FLAGS_minloglevel = 3;  // a step out of the domain is no news here
  PeerAnswer answer{start, 0, 0};
  ceres::Problem ceres_problem;
  ceres_problem.AddResidualBlock(new NistCost(problem), nullptr, answer.beta.data());
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.max_num_iterations = 10000;
  options.function_tolerance = options.gradient_tolerance = options.parameter_tolerance = 1e-20;
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &ceres_problem, &summary);
  answer.evaluations = summary.num_residual_evaluations;
  return answer;
}

#else

const bool kHaveCeres = false;
std::string ceres_settings() { return ""; }
PeerAnswer solve_ceres(const NistProblem&, const Vector<double>&) {
  throw Error("Ceres was not found when this program was built");
}

#endif

}  // namespace sdm::experiments
