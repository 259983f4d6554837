// Processor time of one solve on one core: learned descent against Newton and Ceres, in one run.
// Learned descent and Newton make ten steps on the scalar functions.
//
//   solve_bench [DIR]     DIR/nls holds NIST's regression problems; without them they are left out
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "bench/ratios.h"
#include "experiments/analytic/analytic.h"
#include "experiments/nist/ceres.h"
#include "experiments/nist/learned.h"
#include "experiments/registry.h"
#include "sdm/base/error.h"
#include "sdm/descent/solve.h"

namespace {

using namespace sdm;
using namespace sdm::experiments;

constexpr int kSteps = 10;

/// Runs `solve(i)` for every i in turn, so that no single easy or hard case is measured.
template <class Solve>
void add(const std::string& name, std::size_t cases, Solve solve) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(solve(i++ % cases));
  });
}

// A scalar function as a problem of one observation, so that Ceres runs it as it runs NIST's.
template <int I>
NistModel scalar_model() {
  const auto& f = analytic_functions()[I];
  return {f.name, 1, false,
          [](ConstMatrixRef<double>, const double* x, double* out) {
            out[0] = analytic_functions()[I].h(x[0]);
          },
          [](ConstMatrixRef<double>, const double* x, double* out) {
            out[0] = analytic_functions()[I].first(x[0]);
          }};
}

struct LearnedScalar {
  explicit LearnedScalar(Cascade<double> learned) : cascade(std::move(learned)), solver(cascade) {}
  Cascade<double> cascade;
  Solver<double> solver;
  Vector<double> x = Vector<double>::Zero(1);
};

template <int I>
void add_scalar() {
  const AnalyticFunction& f = analytic_functions()[I];
  const auto learned = std::make_shared<LearnedScalar>(train_reversed(f, 0, kSteps));
  add(f.name + "/sdm", f.test_y.size(), [&f, learned](std::size_t i) {
    learned->x[0] = 0;
    const double y = f.test_y[i];
    learned->solver.solve(
        learned->x, [&](int, const auto& at, auto&& out) { out[0] = f.h(at[0]) - y; },
        [](const auto& at, const auto& delta, auto&& out) { out = at + delta; });
    return learned->x[0];
  });
  add(f.name + "/newton", f.test_y.size(), [&f](std::size_t i) {
    double x = 0;
    for (int k = 0; k < kSteps; ++k) x = newton_step(f, x, f.test_y[i]);
    return x;
  });
  if (!kHaveCeres) return;
  add(f.name + "/ceres", f.test_y.size(), [&f](std::size_t i) {
    NistProblem problem;
    problem.model = scalar_model<I>();
    problem.x = Matrix<double>::Zero(1, 1);
    problem.y = Vector<double>::Constant(1, f.test_y[i]);
    return solve_ceres(problem, Vector<double>::Zero(1)).beta[0];
  });
}

void add_nist(const std::filesystem::path& folder, const std::string& name,
              std::vector<NistProblem>& keep) {
  keep.push_back(read_nist(folder / (name + ".dat")));
  const NistProblem& problem = keep.back();
  const auto learned = std::make_shared<LearnedDescent>(problem, problem.starts[0], LearnOptions{});
  add(name + "/sdm", 1,
      [learned, &problem](std::size_t) { return learned->solve(problem.y).residual; });
  add(name + "/sdm_refined", 1, [learned, &problem](std::size_t) {
    return refine(refine_problem(problem), learned->solve(problem.y).beta).x[0];
  });
  if (kHaveCeres)
    add(name + "/ceres", 1,
        [&problem](std::size_t) { return solve_ceres(problem, problem.starts[0]).beta[0]; });
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<NistProblem> problems;
  problems.reserve(3);
  add_scalar<0>();
  add_scalar<1>();
  add_scalar<2>();
  add_scalar<3>();
  try {
    ExperimentContext context;
    if (argc > 1) context.data = argv[1];
    const auto folder = find_data(context, "nls");
    for (const char* name : {"Misra1a", "Rat43", "MGH17"}) add_nist(folder, name, problems);
  } catch (const NoData&) {
    fmt::print("NIST's problems left out: name the folder that holds nls/ as the argument\n");
  } catch (const Error& error) {
    fmt::print("NIST's problems left out: {}\n", error.what());
  }
  if (!kHaveCeres) fmt::print("ceres: not found when this program was built, left out\n");

  bench::Ratios ratios("sdm");
  benchmark::RunSpecifiedBenchmarks(&ratios);
}
