// Learns to invert h(x) = (sin x0 + x1/2, x1^3/3 + x1 - x0/3) from examples, then solves for a y it
// has not seen. No derivative of h is ever taken: h could as well be a simulation or a table.

#include <sdm/sdm.h>

#include <cmath>
#include <cstdio>

int main() {
  const auto h = [](const auto& x, auto&& out) {
    out[0] = std::sin(x[0]) + x[1] / 2;
    out[1] = x[1] * x[1] * x[1] / 3 + x[1] - x[0] / 3;
  };

  // Examples: states we expect, and what h says about them (reversed SDM, one y for each).
  const sdm::Matrix<double> states = sdm::Matrix<double>::Random(2, 2000);
  sdm::Matrix<double> measured(2, states.cols());
  for (sdm::Index i = 0; i < states.cols(); ++i) h(states.col(i), measured.col(i));

  sdm::TrainOptions options;
  options.stages = 8;
  const sdm::Vector<double> start = sdm::Vector<double>::Zero(2);
  const auto trained = sdm::train(h, start, states, measured, options);
  std::printf("%s", trained.summary.full_report().c_str());

  const sdm::Vector<double> truth = Eigen::Vector2d(0.6, -0.3);
  sdm::Vector<double> y(2);
  h(truth, y);
  const auto answer = sdm::solve(trained.cascade, h, start, y);
  std::printf("x = (%.4f, %.4f), expected (0.6, -0.3): %s\n", answer.x[0], answer.x[1],
              answer.summary.brief_report().c_str());
  return (answer.x - truth).norm() < 1e-2 ? 0 : 1;
}
