// Processor time of one solve on one core: learned descent against Newton, Ceres and its
// TinySolver, in one run. All start from the same point and are asked the same questions; Ceres'
// solvers stop by their defaults. `rms` tells how well the answers fit, beside the noise of the
// data.
//
// sin and x^3 are the paper's scalar functions. Misra1a and MGH17 are regression problems of NIST's
// StRD (https://www.itl.nist.gov/div898/strd): their models, abscissae, certified parameters and
// residual deviations. Questions are drawn from the box within 20 % of the certified parameters,
// with normal noise of that deviation; the box is what the maps were trained on.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/ratios.h"
#include "sdm/descent/refine.h"
#include "sdm/descent/solve.h"
#include "sdm/descent/train/train.h"

#ifdef SDM_BENCH_CERES
#include <ceres/ceres.h>
#include <ceres/tiny_solver.h>
#include <glog/logging.h>
#endif

namespace {

using namespace sdm;

/// N parameters b, of which `value` is one of M observations and `gradient` its derivatives. `low`
/// and `high` are the box, `start` is where every solver starts.
struct Sine {
  static constexpr int N = 1, M = 1;
  static constexpr const char* name = "sin";
  static constexpr double noise = 0;
  static constexpr std::array low{-1.5}, high{1.5}, start{0.0};
  static constexpr std::array x{0.0};
  static double value(const double* b, double) { return std::sin(b[0]); }
  static void gradient(const double* b, double, double* out) { out[0] = std::cos(b[0]); }
  static double curvature(double b) { return -std::sin(b); }
};

struct Cube {
  static constexpr int N = 1, M = 1;
  static constexpr const char* name = "x^3";
  static constexpr double noise = 0;
  static constexpr std::array low{1.0}, high{3.0}, start{2.0};
  static constexpr std::array x{0.0};
  static double value(const double* b, double) { return b[0] * b[0] * b[0]; }
  static void gradient(const double* b, double, double* out) { out[0] = 3 * b[0] * b[0]; }
  static double curvature(double b) { return 6 * b; }
};

template <std::size_t N>
constexpr std::array<double, N> scaled(std::array<double, N> certified, double factor) {
  for (double& value : certified) value *= factor;
  return certified;
}

struct Misra1a {
  static constexpr int N = 2, M = 14;
  static constexpr const char* name = "Misra1a";
  static constexpr double noise = 0.10187876330;
  static constexpr std::array start{2.3894212918e2, 5.5015643181e-4};
  static constexpr auto low = scaled(start, 0.8), high = scaled(start, 1.2);
  static constexpr std::array x{77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                                378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0};
  static double value(const double* b, double x) { return b[0] * (1 - std::exp(-b[1] * x)); }
  static void gradient(const double* b, double x, double* out) {
    const double e = std::exp(-b[1] * x);
    out[0] = 1 - e;
    out[1] = b[0] * x * e;
  }
};

template <int M>
constexpr std::array<double, M> tens() {
  std::array<double, M> x{};
  for (int i = 0; i < M; ++i) x[std::size_t(i)] = 10.0 * i;
  return x;
}

struct Mgh17 {
  static constexpr int N = 5, M = 33;
  static constexpr const char* name = "MGH17";
  static constexpr double noise = 1.3970497866e-3;
  static constexpr std::array start{3.7541005211e-1, 1.9358469127, -1.4646871366, 1.2867534640e-2,
                                    2.2122699662e-2};
  static constexpr auto low = scaled(start, 0.8), high = scaled(start, 1.2);
  static constexpr auto x = tens<M>();
  static double value(const double* b, double x) {
    return b[0] + b[1] * std::exp(-b[3] * x) + b[2] * std::exp(-b[4] * x);
  }
  static void gradient(const double* b, double x, double* out) {
    const double slow = std::exp(-b[3] * x), fast = std::exp(-b[4] * x);
    out[0] = 1;
    out[1] = slow;
    out[2] = fast;
    out[3] = -b[1] * x * slow;
    out[4] = -b[2] * x * fast;
  }
};

template <class P>
using State = Eigen::Matrix<double, P::N, 1>;

template <class P>
void values(const double* b, double* out) {
  for (int i = 0; i < P::M; ++i) out[i] = P::value(b, P::x[std::size_t(i)]);
}

/// `jacobian` is column-major.
template <class P>
void derivatives(const double* b, double* jacobian) {
  std::array<double, std::size_t(P::N)> row{};
  for (int i = 0; i < P::M; ++i) {
    P::gradient(b, P::x[std::size_t(i)], row.data());
    for (int j = 0; j < P::N; ++j) jacobian[j * P::M + i] = row[std::size_t(j)];
  }
}

/// Parameters drawn from the box and the noisy data each gives.
template <class P>
struct Questions {
  Questions(Index count, unsigned seed) : b(P::N, count), y(P::M, count) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> even(0, 1);
    std::normal_distribution<double> normal(0, 1);
    for (Index i = 0; i < count; ++i) {
      for (int j = 0; j < P::N; ++j) {
        const auto k = std::size_t(j);
        b(j, i) = P::low[k] + (P::high[k] - P::low[k]) * even(random);
      }
      values<P>(b.col(i).data(), y.col(i).data());
      for (double& value : y.col(i)) value += P::noise * normal(random);
    }
  }
  Matrix<double> b, y;
};

template <class P>
State<P> start() {
  return Eigen::Map<const State<P>>(P::start.data());
}

/// The learned maps. States are shares of the start, so that all parameters have one size.
template <class P>
class Learned {
 public:
  Learned() {
    const Questions<P> examples(4000, 1);
    for (int j = 0; j < P::N; ++j)
      unit_[j] = (P::high[std::size_t(j)] - P::low[std::size_t(j)]) / 2;
    const Matrix<double> targets =
        ((examples.b.colwise() - start<P>()).array().colwise() / unit_.array()).matrix();
    const auto problem = function_problem<double>(
        [this](const auto& u, auto&& out) {
          const State<P> b = to_parameters(u);
          values<P>(b.data(), out.data());
        },
        P::N, P::M, examples.b.cols(), examples.y);
    TrainOptions options;
    options.stages = P::N == 1 ? 10 : 8;
    options.penalty = Penalty::relative(1e-12);  // the examples' noise holds the maps back
    cascade_ = train(problem, Matrix<double>::Zero(P::N, 1), targets, options).cascade;
    solver_ = std::make_unique<Solver<double>>(cascade_);
  }
  Learned(const Learned&) = delete;
  Learned& operator=(const Learned&) = delete;

  State<P> solve(ConstVectorRef<double> y) {
    u_.setZero();
    solver_->solve(
        u_,
        [&](int, const auto& u, auto&& out) {
          const State<P> b = to_parameters(u);
          values<P>(b.data(), out.data());
          out -= y;
        },
        [](int, const auto& u, const auto& delta, auto&& out) { out = u + delta; });
    return to_parameters(u_);
  }

 private:
  template <class U>
  State<P> to_parameters(const U& u) const {
    return start<P>() + unit_.cwiseProduct(u);
  }

  State<P> unit_;
  Cascade<double> cascade_;
  std::unique_ptr<Solver<double>> solver_;
  Vector<double> u_ = Vector<double>(P::N);
};

template <class P>
State<P> refined(const State<P>& b, ConstVectorRef<double> y) {
  RefineProblem problem;
  problem.residual_size = P::M;
  problem.residual = [&](ConstVectorRef<double> at, VectorRef<double> out) {
    values<P>(at.data(), out.data());
    out -= y;
  };
  problem.jacobian = [](ConstVectorRef<double> at, Eigen::Ref<Matrix<double>> out) {
    derivatives<P>(at.data(), out.data());
  };
  RefineOptions options;
  options.cost_tolerance = 1e-6;  // as Ceres' function_tolerance is
  return refine(problem, b, options).x;
}

/// Ten steps of Newton's method on (h(x) - y)^2.
template <class P>
State<P> newton(ConstVectorRef<double> y) {
  State<P> b = start<P>();
  for (int k = 0; k < 10; ++k) {
    double slope = 0;
    P::gradient(b.data(), 0, &slope);
    const double error = P::value(b.data(), 0) - y[0];
    b[0] -= slope * error / (slope * slope + P::curvature(b[0]) * error);
  }
  return b;
}

#ifdef SDM_BENCH_CERES
template <class P>
class Cost : public ceres::SizedCostFunction<P::M, P::N> {
 public:
  explicit Cost(const double* y) : y_(y) {}
  bool Evaluate(double const* const* b, double* residuals, double** jacobians) const override {
    values<P>(b[0], residuals);
    for (int i = 0; i < P::M; ++i) residuals[i] -= y_[i];
    if (jacobians != nullptr && jacobians[0] != nullptr)  // row-major
      for (int i = 0; i < P::M; ++i)
        P::gradient(b[0], P::x[std::size_t(i)], jacobians[0] + i * P::N);
    return true;
  }

 private:
  const double* y_;
};

template <class P>
State<P> with_ceres(ConstVectorRef<double> y) {
  State<P> b = start<P>();
  ceres::Problem problem;
  problem.AddResidualBlock(new Cost<P>(y.data()), nullptr, b.data());
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  return b;
}

template <class P>
struct TinyCost {
  using Scalar = double;
  enum { NUM_RESIDUALS = P::M, NUM_PARAMETERS = P::N };
  const double* y;
  bool operator()(const double* b, double* residuals, double* jacobian) const {
    values<P>(b, residuals);
    for (int i = 0; i < P::M; ++i) residuals[i] -= y[i];
    if (jacobian != nullptr) derivatives<P>(b, jacobian);
    return true;
  }
};

template <class P>
State<P> with_tiny_solver(ConstVectorRef<double> y) {
  State<P> b = start<P>();
  ceres::TinySolver<TinyCost<P>> solver;
  solver.Solve(TinyCost<P>{y.data()}, &b);
  return b;
}
#endif

/// Asks one question after the other, so that no single easy or hard one is measured.
template <class P, class Solve>
void add(const std::string& method, const std::shared_ptr<const Questions<P>>& questions,
         Solve solve) {
  const std::string name = std::string(P::name) + "/" + method;
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) mutable {
    const Index count = questions->y.cols();
    Index i = 0;
    for (auto _ : state) {
      benchmark::DoNotOptimize(solve(questions->y.col(i)));
      if (++i == count) i = 0;
    }
    double sum = 0;
    for (i = 0; i < count; ++i) {
      Eigen::Matrix<double, P::M, 1> h;
      values<P>(solve(questions->y.col(i)).data(), h.data());
      sum += (h - questions->y.col(i)).squaredNorm();
    }
    state.counters["rms"] = std::sqrt(sum / double(count * P::M));
    state.counters["noise"] = P::noise;
  });
}

template <class P>
void add_all() {
  const auto questions = std::make_shared<const Questions<P>>(256, 2);
  const auto learned = std::make_shared<Learned<P>>();
  add<P>("sdm", questions, [=](const auto& y) { return learned->solve(y); });
  add<P>("sdm_refined", questions, [=](const auto& y) { return refined<P>(learned->solve(y), y); });
  if constexpr (P::N == 1) add<P>("newton", questions, [](const auto& y) { return newton<P>(y); });
#ifdef SDM_BENCH_CERES
  add<P>("ceres", questions, [](const auto& y) { return with_ceres<P>(y); });
  add<P>("tiny_solver", questions, [](const auto& y) { return with_tiny_solver<P>(y); });
#endif
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
#ifdef SDM_BENCH_CERES
  FLAGS_minloglevel = 3;
#else
  std::printf("ceres: not found when this program was built, left out\n");
#endif
  add_all<Sine>();
  add_all<Cube>();
  add_all<Misra1a>();
  add_all<Mgh17>();
  bench::Ratios ratios("sdm");
  benchmark::RunSpecifiedBenchmarks(&ratios);
}
