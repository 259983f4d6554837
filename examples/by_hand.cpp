// What docs/own-problem.md tells of training by hand: maps from examples of one's own, their report
// and certificate, solving without allocations, a file, and the last digits.

#include <sdm/sdm.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

int main() {
  constexpr int m = 2;
  const auto h = [](const auto& x, auto&& out) {
    out[0] = std::sin(x[0]) + x[1] / 2;
    out[1] = x[1] * x[1] * x[1] / 3 + x[1] - x[0] / 3;
  };
  const sdm::Matrix<double> states = sdm::Matrix<double>::Random(2, 3000);
  sdm::Matrix<double> measured(m, states.cols());
  for (sdm::Index i = 0; i < states.cols(); ++i) h(states.col(i), measured.col(i));
  const sdm::Vector<double> start = sdm::Vector<double>::Zero(2);

  sdm::TrainOptions options;
  options.stages = 8;
  const auto trained = sdm::train(h, start, states, measured, options);
  std::printf("%s", trained.summary.full_report().c_str());

  // Is the first map a descent map around the start?
  const sdm::Vector<double> x_star = start;
  const sdm::Matrix<double> samples_around_it = 0.3 * sdm::Matrix<double>::Random(2, 200);
  const auto c = sdm::certify(trained.cascade.maps[0].matrix(), h, x_star, samples_around_it);
  puts(c.brief_report().c_str());

  // How far off are its answers? Asked of samples that it has not seen.
  const sdm::Matrix<double> targets = sdm::Matrix<double>::Random(2, 1000);
  sdm::Matrix<double> fresh(m, targets.cols());
  for (sdm::Index i = 0; i < targets.cols(); ++i) h(targets.col(i), fresh.col(i));
  const auto held_out = sdm::function_problem(h, targets, fresh);
  const sdm::Matrix<double> starts = start;
  const double radius = sdm::conformal_radius(trained.cascade, held_out, starts, targets, 0.99);

  const sdm::Vector<double> truth = Eigen::Vector2d(0.6, -0.3);
  sdm::Vector<double> y(m), x = start;
  h(truth, y);
  const auto features = [&](int /*stage*/, const auto& at, auto&& out) {
    h(at, out);
    out -= y;
  };
  const auto step = [](int /*stage*/, const auto& at, const auto& delta, auto&& out) {
    out = at + delta;
  };
  sdm::Solver<double> solver(trained.cascade);  // once per thread
  solver.solve(x, features, step);              // allocates nothing
  std::printf("off by %.1e, at most %.1e in 99 of 100\n", (x - truth).norm(), radius);

  trained.cascade.save("mine.sdm");
  const auto cascade = sdm::Cascade<double>::load("mine.sdm");  // from_model takes bytes
  std::filesystem::remove("mine.sdm");
  const bool same = (sdm::solve(cascade, h, start, y).x - x).norm() < 1e-12;

  const sdm::RefineProblem exact{m, [&](const auto& at, auto&& out) {
                                   h(at, out);
                                   out -= y;
                                 }};
  sdm::RefineOptions finish;
  finish.seed = trained.cascade.maps.back().matrix();  // square: Broyden, no derivatives
  const auto refined = sdm::refine(exact, x, finish);
  puts(refined.summary.brief_report().c_str());

  const auto residual = [&](const auto& at, auto&& out) {
    h(at, out);
    out -= y;
  };
  const auto jacobian = [](const auto& at, auto&& out) {
    out << std::cos(at[0]), 0.5, -1. / 3, at[1] * at[1] + 1;
  };
  sdm::Refiner<2, 2> refiner;  // unknowns, residuals; or sdm::Refiner<> refiner(2, 2)
  Eigen::Vector2d again = start;
  const auto summary = refiner.refine(again, residual, jacobian);
  return same && summary.converged() && (refined.x - truth).norm() < 1e-8 &&
                 (again - truth).norm() < 1e-8 && (x - truth).norm() < 1e-2
             ? 0
             : 1;
}
