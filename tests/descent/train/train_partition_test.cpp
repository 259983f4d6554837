#include "sdm/descent/train/train_partition.h"

#include <cmath>
#include <filesystem>

#include "tests/descent/problems.h"
#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm {
namespace {

using io::expect_error;
namespace fs = std::filesystem;

// A curve in the plane that winds one and a half times round: h' turns over, so no single map can
// descend from everywhere, yet every y has one x.
const auto spiral = [](const auto& x, auto&& out) {
  const double angle = 1.5 * M_PI * x[0];
  out[0] = (1 + 0.3 * x[0]) * std::cos(angle);
  out[1] = (1 + 0.3 * x[0]) * std::sin(angle);
};

struct Curve {
  Matrix<double> targets, templates;
  auto problem() const { return function_problem<double>(spiral, 1, 2, targets.cols(), templates); }
};

Curve sample_curve(Index count, double from = -1, double to = 1) {
  Curve curve{Vector<double>::LinSpaced(count, from, to).transpose(), Matrix<double>(2, count)};
  Vector<double> out(2);
  for (Index i = 0; i < count; ++i) {
    spiral(curve.targets.col(i), out);
    curve.templates.col(i) = out;
  }
  return curve;
}

TrainOptions ten_stages() {
  TrainOptions options;
  options.stages = 10;
  return options;
}

Grid line(int cells) {
  return {Vector<double>::Constant(1, -1), Vector<double>::Constant(1, 1), {cells}};
}

double worst_error(const auto& solver, const Curve& test) {
  double worst = 0;
  for (Index i = 0; i < test.targets.cols(); ++i)
    worst = std::max(worst, std::abs(solver(test.problem(), i) - test.targets(0, i)));
  return worst;
}

// A mirror x -> -x, declared, and a record of the maps it was told of.
struct Told {
  using Scalar = double;
  Matrix<double> starts = random_matrix<double>(1, 40, 1), targets = 0.1 * starts;
  mutable std::vector<Matrix<double>> maps;

  Index samples() const { return 40; }
  Index state_size() const { return 1; }
  Index feature_size(int) const { return 2; }
  bool template_known() const { return false; }
  void features(Index, int, ConstVectorRef<double> x, VectorRef<double> out) const {
    out << x[0], x[0] * x[0];
  }
  Symmetry symmetry(int) const { return {{{0, 1}, {-1, 1}}, {{0}, {-1}}}; }
  void learned(int, const DescentMap<double>& map) const { maps.push_back(map.matrix()); }
};

TEST(SubsetProblem, KeepsTheSymmetryAndTellsOfEveryMap) {
  const Told problem;
  std::vector<Index> all;
  for (Index i = 0; i < 40; ++i) all.push_back(i);
  const auto whole = train(problem, problem.starts, problem.targets);
  const auto subset = train(SubsetProblem<Told>(problem, all), problem.starts, problem.targets);
  EXPECT_TRUE(same_bits(subset.cascade, whole.cascade));
  // An odd delta cannot come from an even feature, nor from a bias.
  EXPECT_EQ(subset.cascade.maps[0].matrix()(0, 1), 0);
  EXPECT_EQ(subset.cascade.maps[0].bias()[0], 0);
  ASSERT_EQ(problem.maps.size(), 8U);
  EXPECT_EQ(problem.maps[4], problem.maps[0]);
}

TEST(Partition, SolvesByAGridWhatOneCascadeCannot) {
  const Curve training = sample_curve(201), test = sample_curve(77);
  const Vector<double> middle = Vector<double>::Zero(1);
  const auto one =
      train(training.problem(), Matrix<double>(middle), training.targets, ten_stages());
  const double single = worst_error(
      [&](const auto& p, Index i) { return solve(one.cascade, p, i, middle).x[0]; }, test);

  const auto cells = train_grid(training.problem(), training.targets, line(8), ten_stages());
  const double parted =
      worst_error([&](const auto& p, Index i) { return solve(cells, p, i, middle).x[0]; }, test);
  EXPECT_GT(single, 0.3);
  EXPECT_LT(parted, 1e-3);
}

TEST(Partition, SolvesBySignsWhatOneCascadeCannot) {
  // min (x^2 - 1)^2 from either side: the slope has both signs, so one map sends half of the
  // samples the wrong way (condition 1 of theorem 1 fails).
  const Index count = 80;
  Matrix<double> starts(1, count), targets(1, count);
  for (Index i = 0; i < count; ++i) {
    const double side = i % 2 == 0 ? 1 : -1;
    starts(0, i) = side * (0.4 + 1.2 * static_cast<double>(i) / static_cast<double>(count));
    targets(0, i) = side;
  }
  const auto problem = function_problem<double>(
      [](const auto& x, auto&& out) {
        out[0] = x[0] * x[0];
        out[1] = 0.2 * std::tanh(8 * x[0]);
      },
      1, 2, count, Matrix<double>());
  TrainOptions options;
  options.stages = 6;
  const auto one = train(problem, starts, targets, options);
  const auto signs = train_signs(problem, starts, targets, 0, 2, options);
  double single = 0, parted = 0;
  for (Index i = 0; i < count; ++i) {
    const Vector<double> x0 = starts.col(i);
    single = std::max(single, std::abs(solve(one.cascade, problem, i, x0).x[0] - targets(0, i)));
    parted = std::max(parted, std::abs(solve(signs, problem, i, x0).x[0] - targets(0, i)));
  }
  EXPECT_GT(single, 10 * parted);
  EXPECT_LT(parted, 0.02);
}

TEST(Partition, WithStateAxesTheLeastResidualChooses) {
  const Curve training = sample_curve(201, -0.5, 0.5), test = sample_curve(50, -0.5, 0.5);
  const Vector<double> middle = Vector<double>::Zero(1);
  const Matrix<double> start = middle;
  const auto one = train(training.problem(), start, training.targets, ten_stages());
  const auto signs = train_signs(training.problem(), start, training.targets, 1, 0, ten_stages());
  EXPECT_EQ(signs.cells.size(), 2U);
  const auto by_one = [&](const auto& p, Index i) { return solve(one.cascade, p, i, middle).x[0]; };
  const auto by_signs = [&](const auto& p, Index i) { return solve(signs, p, i, middle).x[0]; };
  EXPECT_GT(worst_error(by_one, test), 0.1);
  EXPECT_LT(worst_error(by_signs, test), 1e-3);
}

TEST(SignRule, PutsOppositeDirectionsIntoDifferentCellsAndNamesCandidates) {
  Matrix<double> deltas(2, 4), features(3, 4);
  deltas << 3, -3, 2, -2, 0.1, 0.1, -0.1, -0.1;
  features << 1, -1, 1, -1, 0, 0, 0, 0, 0.1, 0.1, -0.1, -0.1;
  const SignRule<double> rule(deltas, features, 1, 1);
  EXPECT_EQ(rule.cells(), 4);
  EXPECT_NE(rule.cell_of(deltas.col(0), features.col(0)),
            rule.cell_of(deltas.col(1), features.col(0)));
  EXPECT_NE(rule.cell_of(deltas.col(0), features.col(0)),
            rule.cell_of(deltas.col(0), features.col(1)));
  const std::vector<int> open = rule.candidates(features.col(0));
  EXPECT_EQ(open.size(), 2U);
  for (const Index i : {Index(0), Index(1)})
    EXPECT_NE(std::find(open.begin(), open.end(), rule.cell_of(deltas.col(i), features.col(0))),
              open.end());
  EXPECT_THROW((SignRule<double>(deltas, features, 3, 0)), Error);
}

TEST(Grid, FindsTheCellOfItsOwnCentreAndClampsOutside) {
  const Grid grid{Eigen::Vector2d(-1, 0), Eigen::Vector2d(1, 10), {4, 5}};
  ASSERT_EQ(grid.size(), 20);
  for (Index c = 0; c < grid.size(); ++c) EXPECT_EQ(grid.cell_of(grid.centre(c)), c);
  EXPECT_EQ(grid.cell_of(Eigen::Vector2d(-100, -100)), 0);
  EXPECT_EQ(grid.cell_of(Eigen::Vector2d(100, 100)), 19);
  EXPECT_THROW((Grid{Eigen::Vector2d(0, 0), Eigen::Vector2d(1, 1), {2}}.validate()), Error);
  EXPECT_THROW((Grid{Eigen::Vector2d(0, 0), Eigen::Vector2d(1, 0), {2, 2}}.validate()), Error);
  EXPECT_THROW((Grid{Eigen::Vector2d(0, 0), Eigen::Vector2d(1, 1), {2, 0}}.validate()), Error);
}

TEST(Partition, NeedsAResidualToChooseAmongStateAxesOrTheCellsOfAGrid) {
  const auto unknown =
      function_problem<double>([](const auto& x, auto&& out) { out = x; }, 1, 1, 4, {});
  const Matrix<double> four = Matrix<double>::Random(1, 4);
  EXPECT_THROW(train_signs(unknown, four, four, 1, 0), Error);
  expect_error([&] { train_grid(unknown, four, line(2)); }, "a grid needs a known template");
}

TEST(Partition, KeepsACheckpointForEachCellAndLearnsFromAllSamplesOnce) {
  const TemporaryFolder folder;
  const Curve left = sample_curve(60, -1, -0.05);  // cells 2 and 3 have no samples
  TrainOptions options = ten_stages();
  const auto plain = train_grid(left.problem(), left.targets, line(4), options);
  options.checkpoint = (folder / "training").string();
  const auto kept = train_grid(left.problem(), left.targets, line(4), options);
  const auto resumed = train_grid(left.problem(), left.targets, line(4), options);
  ASSERT_EQ(kept.cells.size(), 4U);
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_TRUE(same_bits(kept.cells[c], plain.cells[c])) << c;
    EXPECT_TRUE(same_bits(resumed.cells[c], plain.cells[c])) << c;
    EXPECT_EQ(fs::exists(options.checkpoint + ".cell" + std::to_string(c)), c < 3) << c;
  }
  EXPECT_TRUE(same_bits(plain.cells[2], plain.cells[3]));
  EXPECT_FALSE(same_bits(plain.cells[1], plain.cells[2]));
}

TEST(Partition, GoesThroughAFileToTheBit) {
  const TemporaryFolder folder;
  const Curve curve = sample_curve(60);
  const Matrix<double> start = Matrix<double>::Zero(1, 1);
  const auto grid = train_grid(curve.problem(), curve.targets, line(3), ten_stages());
  const auto signs = train_signs(curve.problem(), start, curve.targets, 1, 1, ten_stages());
  for (const auto* partition : {&grid, &signs}) {
    partition->save(folder / "partition.sdm");
    const auto back = Partition<double>::load(folder / "partition.sdm");
    EXPECT_EQ(back.to_model(), partition->to_model());
    for (Index i = 0; i < 60; i += 7)
      EXPECT_EQ(solve(back, curve.problem(), i, Vector<double>(start)).x,
                solve(*partition, curve.problem(), i, Vector<double>(start)).x);
  }
  io::Model model = grid.to_model();
  model.tensors.erase("cell2.stage1.right");
  expect_error([&] { Partition<double>::from_model(model); }, "cell2.stage1.right");
  model = signs.to_model();
  model.header = R"({"cells": 2, "stages": 10, "state_size": 1, "template_known": true})";
  expect_error([&] { Partition<double>::from_model(model); }, "2 axes for 2 cells");
  model.kind = "cascade";
  EXPECT_THROW(Partition<double>::from_model(model), Error);
}

TEST(Partition, NamesSizesThatDoNotFit) {
  const Curve curve = sample_curve(20);
  const auto problem = curve.problem();
  const Matrix<double> start = Matrix<double>::Zero(1, 1), all = Matrix<double>::Zero(1, 20);
  const Matrix<double> few = curve.targets.leftCols(7), tall = Matrix<double>::Zero(2, 20);
  expect_error([&] { train_grid(problem, few, line(2)); }, "there are 7 targets, expected 1 or");
  expect_error([&] { train_grid(problem, tall, line(2)); }, "the targets have 2 rows, expected 1");
  expect_error([&] { train_grid(problem, Matrix<double>(all / 0.0), line(2)); },
               "targets 0: a value is not finite");
  expect_error([&] { train_signs(problem, few, curve.targets, 1, 0); }, "there are 7 starts");
  expect_error([&] { train_signs(problem, tall, curve.targets, 1, 0); }, "the starts have 2 rows");
  expect_error([&] { train_signs(problem, start, few, 1, 0); }, "there are 7 targets");
  expect_error([&] { train_signs(problem, start, curve.targets, 11, 10); },
               "11 state axes and 10 feature axes, expected at most 20 together");
  const auto cells = [&](std::vector<Index> cell_of, Index count) {
    return [=, &problem, &curve] { train_cells(problem, start, curve.targets, cell_of, count); };
  };
  expect_error(cells(std::vector<Index>(19, 0), 2), "19 cell numbers for 20 samples");
  expect_error(cells(std::vector<Index>(20, 2), 2), "sample 0 is in cell 2 of 2");
  expect_error(cells(std::vector<Index>(20, -1), 2), "sample 0 is in cell -1 of 2");
  expect_error(cells(std::vector<Index>(20, 0), 0), "0 cells, expected at least one");
}

}  // namespace
}  // namespace sdm
