// A problem of your own: a robot arm with two joints must reach a point. The state is two angles,
// which live on a circle and not on a line, so the problem says itself how states move. The answer
// of the cascade is good; `refine` gives the last digits.

#include <sdm/descent/refine.h>
#include <sdm/descent/solve.h>
#include <sdm/descent/train/train_partition.h>

#include <cmath>
#include <cstdio>

namespace {

void hand(const Eigen::Ref<const sdm::Vector<double>>& angles,
          Eigen::Ref<sdm::Vector<double>> out) {
  out[0] = std::cos(angles[0]) + 0.7 * std::cos(angles[0] + angles[1]);
  out[1] = std::sin(angles[0]) + 0.7 * std::sin(angles[0] + angles[1]);
}

struct Arm {
  using Scalar = double;
  sdm::Matrix<double> goals;  // a column a sample

  // What every problem has.
  sdm::Index samples() const { return goals.cols(); }
  sdm::Index state_size() const { return 2; }
  sdm::Index feature_size(int /*stage*/) const { return 2; }
  bool template_known() const { return true; }  // the goal is known: features are h(x) - y
  void features(sdm::Index sample, int /*stage*/, sdm::ConstVectorRef<double> x,
                sdm::VectorRef<double> out) const {
    hand(x, out);
    out -= goals.col(sample);
  }

  // How angles move: the short way round.
  void difference(sdm::ConstVectorRef<double> x, sdm::ConstVectorRef<double> target,
                  sdm::VectorRef<double> out) const {
    for (sdm::Index i = 0; i < 2; ++i) out[i] = std::remainder(target[i] - x[i], 2 * M_PI);
  }
  void step(int /*stage*/, sdm::ConstVectorRef<double> x, sdm::ConstVectorRef<double> delta,
            sdm::VectorRef<double> out) const {
    for (sdm::Index i = 0; i < 2; ++i) out[i] = std::remainder(x[i] + delta[i], 2 * M_PI);
  }
};

}  // namespace

int main() {
  // Examples: the elbow bent one way, the shoulder anywhere in front.
  sdm::Matrix<double> angles = sdm::Matrix<double>::Random(2, 3000);
  angles.row(1) = angles.row(1).array() * 0.5 + 1.2;
  Arm arm{sdm::Matrix<double>(2, angles.cols())};
  for (sdm::Index i = 0; i < angles.cols(); ++i) hand(angles.col(i), arm.goals.col(i));

  // One map for all of that range is too much to ask: one cascade for each part of it.
  const sdm::Grid grid{Eigen::Vector2d(-1, 0.7), Eigen::Vector2d(1, 1.7), {3, 2}};
  sdm::TrainOptions options;
  options.stages = 5;
  const auto partition = sdm::train_grid(arm, angles, grid, options);

  const sdm::Vector<double> truth = Eigen::Vector2d(0.8, 1.5);
  Arm task{sdm::Matrix<double>(2, 1)};
  hand(truth, task.goals.col(0));
  const auto learned = sdm::solve(partition, task, 0, sdm::Vector<double>(Eigen::Vector2d(0, 1.2)));
  // The last map is nearly an inverse Jacobian: with it as a seed, `refine` differentiates nothing.
  const sdm::RefineProblem exact{2,
                                 [&](const auto& x, auto&& out) { task.features(0, 0, x, out); }};
  sdm::RefineOptions polish;
  polish.seed = partition.cells[std::size_t(learned.cell)].maps.back().matrix();
  const auto refined = sdm::refine(exact, learned.x, polish);
  std::printf("learned: off by %.1e rad; refined: off by %.1e rad, %d evaluations\n",
              (learned.x - truth).norm(), (refined.x - truth).norm(), refined.summary.evaluations);
  return (refined.x - truth).norm() < 1e-8 ? 0 : 1;
}
