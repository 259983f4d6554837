#include "adapters/peers/fit_peers.h"

#include <array>

#include "adapters/peers/fit_models.h"
#include "sdm/descent/refine.h"

#ifdef SDM_HAVE_CERES
#include <ceres/ceres.h>
#include <ceres/tiny_solver.h>
#include <glog/logging.h>
#endif
#ifdef SDM_HAVE_CMINPACK
#include <cminpack.h>
#endif

namespace sdm::peers {
namespace {

// The defaults of Ceres, for all of them: relative decrease of the cost, relative step, gradient.
constexpr double kCost = 1e-6, kStep = 1e-8, kGradient = 1e-10;
constexpr double kReferenceCost = 1e-12;
constexpr int kMostIterations = 50;

/// solve(y, x): one fit from x, in place; gives whether it converged.
template <class Solve>
void fit_all(ConstMatrixRef<double> y, const FitStart& start, FitAnswers& answers, Index states,
             Solve&& solve) {
  answers.x.resize(states, y.cols());
  answers.converged.assign(static_cast<std::size_t>(y.cols()), 0);
  answers.evaluations = 0;
  for (Index i = 0; i < y.cols(); ++i) {
    start(i, answers.x.col(i));
    answers.converged[static_cast<std::size_t>(i)] =
        solve(y.col(i).data(), answers.x.col(i).data());
  }
}

#ifdef SDM_HAVE_CERES

template <class Model>
struct TinyCost {
  using Scalar = double;
  enum { NUM_RESIDUALS = Model::M, NUM_PARAMETERS = Model::N };
  const double* y;
  Index* evaluations;
  bool operator()(const double* b, double* residuals, double* jacobian) const {
    using Values = Eigen::Map<Eigen::Array<double, Model::M, 1>>;
    Model::evaluate(b, residuals, jacobian);
    Values{residuals} -= Eigen::Map<const Eigen::Array<double, Model::M, 1>>(y);
    ++*evaluations;
    return true;
  }
};

/// TinySolver's function_tolerance is said to be relative and is compared with the decrease of
/// |r|^2 itself, so it is given relative to what |r|^2 will be.
template <class Model>
FitPeer tiny_solver(double function_tolerance, int iterations) {
  return {"tiny_solver", [=](ConstMatrixRef<double> y, const FitStart& start, FitAnswers& answers) {
            using Solver = ceres::TinySolver<TinyCost<Model>>;
            Solver solver;
            solver.options.function_tolerance = function_tolerance;
            solver.options.max_num_iterations = iterations;
            fit_all(y, start, answers, Model::N, [&](const double* data, double* x) {
              Eigen::Map<typename Solver::Parameters> at(x);
              typename Solver::Parameters b = at;
              solver.Solve(TinyCost<Model>{data, &answers.evaluations}, &b);
              at = b;
              return solver.summary.status != Solver::HIT_MAX_ITERATIONS;
            });
          }};
}

template <class Model>
class CeresCost : public ceres::SizedCostFunction<Model::M, Model::N> {
 public:
  const double* y = nullptr;
  Index* evaluations = nullptr;
  bool Evaluate(double const* const* b, double* residuals, double** jacobians) const override {
    const bool derive = jacobians != nullptr && jacobians[0] != nullptr;
    Model::evaluate(b[0], residuals, derive ? columns_.data() : nullptr);
    Eigen::Map<Values> r(residuals);
    r -= Eigen::Map<const Values>(y);
    ++*evaluations;
    using Rows = Eigen::Matrix<double, Model::M, Model::N, Eigen::RowMajor>;
    if (derive) Eigen::Map<Rows>{jacobians[0]} = columns_;
    return r.allFinite();
  }

 private:
  using Values = Eigen::Array<double, Model::M, 1>;
  mutable Eigen::Matrix<double, Model::M, Model::N> columns_;  // one thread
};

template <class Model>
FitPeer ceres_solve() {
  return {"ceres", [](ConstMatrixRef<double> y, const FitStart& start, FitAnswers& answers) {
            FLAGS_minloglevel = 3;  // a step out of the domain is no news here
            // Made once: only the data and the start change from fit to fit.
            std::array<double, Model::N> b{};
            CeresCost<Model> cost;
            ceres::Problem::Options keep;
            keep.cost_function_ownership = ceres::DO_NOT_TAKE_OWNERSHIP;
            ceres::Problem problem(keep);
            problem.AddResidualBlock(&cost, nullptr, b.data());
            ceres::Solver::Options options;
            options.linear_solver_type = ceres::DENSE_QR;
            options.function_tolerance = kCost;
            options.parameter_tolerance = kStep;
            options.gradient_tolerance = kGradient;
            options.max_num_iterations = kMostIterations;
            options.logging_type = ceres::SILENT;
            options.num_threads = 1;
            cost.evaluations = &answers.evaluations;
            ceres::Solver::Summary summary;
            fit_all(y, start, answers, Model::N, [&](const double* data, double* x) {
              cost.y = data;
              std::copy_n(x, Model::N, b.begin());
              ceres::Solve(options, &problem, &summary);
              std::copy_n(b.begin(), Model::N, x);
              return summary.termination_type == ceres::CONVERGENCE;
            });
          }};
}

#endif

#ifdef SDM_HAVE_CMINPACK

template <class Model>
int minpack_cost(void* data, int, int, const double* b, double* residuals, double* jacobian, int,
                 int flag) {
  using Values = Eigen::Array<double, Model::M, 1>;
  if (flag == 1) {
    Model::evaluate(b, residuals, nullptr);
    Eigen::Map<Values> r(residuals);
    r -= Eigen::Map<const Values>(static_cast<const double*>(data));
    return 0;
  }
  Values values;
  Model::evaluate(b, values.data(), jacobian);
  return 0;
}

template <class Model>
FitPeer cminpack() {
  return {"cminpack", [](ConstMatrixRef<double> y, const FitStart& start, FitAnswers& answers) {
            constexpr int n = Model::N, m = Model::M;
            std::array<double, n> diagonal{}, qtf{}, w1{}, w2{}, w3{};
            std::array<int, n> pivots{};
            std::array<double, m> residuals{}, w4{};
            std::array<double, std::size_t{m} * n> jacobian{};
            fit_all(y, start, answers, n, [&](const double* data, double* x) {
              int evaluations = 0, jacobians = 0;
              const int info =
                  lmder(minpack_cost<Model>, const_cast<double*>(data), m, n, x, residuals.data(),
                        jacobian.data(), m, kCost, kStep, kGradient, kMostIterations,
                        diagonal.data(), 1, 100, 0, &evaluations, &jacobians, pivots.data(),
                        qtf.data(), w1.data(), w2.data(), w3.data(), w4.data());
              answers.evaluations += evaluations;
              return info >= 1 && info <= 4;
            });
          }};
}

#endif

[[maybe_unused]] constexpr int kReferenceIterations = 500;

/// Our own, for the reference where there is no Ceres.
template <class Model>
[[maybe_unused]] FitPeer own_refine() {
  return {"refine", [](ConstMatrixRef<double> y, const FitStart& start, FitAnswers& answers) {
            Refiner<Model::N, Model::M> refiner;
            RefineOptions options;
            options.cost_tolerance = kReferenceCost;
            fit_all(y, start, answers, Model::N, [&](const double* data, double* x) {
              Eigen::Map<Eigen::Matrix<double, Model::N, 1>> at(x);
              const Eigen::Map<const Eigen::Matrix<double, Model::M, 1>> measured(data);
              Eigen::Matrix<double, Model::M, 1> values;
              const RefineSummary summary = refiner.refine(
                  at,
                  [&](const auto& b, auto&& out) {
                    Model::evaluate(b.data(), out.data(), nullptr);
                    out -= measured;
                  },
                  [&](const auto& b, auto&& out) {
                    Model::evaluate(b.data(), values.data(), out.data());
                  },
                  options);
              answers.evaluations += summary.evaluations;
              return summary.converged();
            });
          }};
}

}  // namespace

template <class Model>
std::vector<FitPeer> fit_peers([[maybe_unused]] double squared_residual) {
  std::vector<FitPeer> peers;
#ifdef SDM_HAVE_CERES
  peers.push_back(tiny_solver<Model>(kCost * squared_residual, kMostIterations));
  peers.push_back(ceres_solve<Model>());
#endif
#ifdef SDM_HAVE_CMINPACK
  peers.push_back(cminpack<Model>());
#endif
  return peers;
}

#ifdef SDM_HAVE_CERES
const bool kHaveCeres = true;
std::string reference_fit_name() { return "Ceres " CERES_VERSION_STRING "'s TinySolver"; }
template <class Model>
FitPeer reference_fit(double squared_residual) {
  return tiny_solver<Model>(kReferenceCost * squared_residual, kReferenceIterations);
}
#else
const bool kHaveCeres = false;
std::string reference_fit_name() { return "sdm::Refiner"; }
template <class Model>
FitPeer reference_fit(double) {
  return own_refine<Model>();
}
#endif

#ifdef SDM_HAVE_CMINPACK
const bool kHaveCminpack = true;
#else
const bool kHaveCminpack = false;
#endif

std::string fit_peer_settings() {
  std::string text;
#ifdef SDM_HAVE_CERES
  text += "tiny_solver and ceres: Ceres " CERES_VERSION_STRING
          "; sizes known at compile time; ceres: DENSE_QR, the problem made once";
#endif
#ifdef SDM_HAVE_CMINPACK
  text += std::string(text.empty() ? "" : "; ") + "cminpack: lmder, internal scaling, factor 100";
#endif
  if (text.empty()) return text;
  return text +
         "; each: cost 1e-6 (relative; TinySolver's is absolute and given as 1e-6 of the |r|^2 to "
         "be "
         "expected), step 1e-8, gradient 1e-10, at most 50 iterations (cminpack: evaluations)";
}

#define SDM_FIT_MODEL(...)                                      \
  template std::vector<FitPeer> fit_peers<__VA_ARGS__>(double); \
  template FitPeer reference_fit<__VA_ARGS__>(double)
SDM_FIT_MODEL(GaussianPeak<5, 0>);
SDM_FIT_MODEL(GaussianPeak<11, -5>);
SDM_FIT_MODEL(T2Relaxation);
SDM_FIT_MODEL(Lifetimes);
SDM_FIT_MODEL(Decay);

}  // namespace sdm::peers
