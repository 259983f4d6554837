#include <gtest/gtest.h>

#include "sdm/descent/train/train.h"
#include "tests/descent/problems.h"

namespace sdm {
namespace {

// A mirror swaps the first two coordinates of the state and flips the sign of the third. Features
// are g(x) and g(mirrored x), which the mirror swaps, a sum that it keeps and a difference that it
// negates.
struct Mirrored {
  using Scalar = double;
  Tanh<double> g;
  Matrix<double> starts, targets;
  std::vector<Index> groups;
  bool known, declared;

  static Vector<double> mirror(ConstVectorRef<double> x) {
    return Vector<double>{{x[1], x[0], -x[2]}};
  }
  // `doubled`: the mirror image of every sample stands in the data; otherwise it is declared.
  Mirrored(Index features, Index samples, bool template_known, bool doubled)
      : g(3, features, 90),
        starts(random_matrix<double>(3, samples, 93)),
        targets(0.3 * random_matrix<double>(3, samples, 94)),
        known(template_known),
        declared(!doubled) {
    for (Index i = 0; i < samples; ++i) groups.push_back(i % 3);
    if (!doubled) return;
    starts.conservativeResize(3, 2 * samples);
    targets.conservativeResize(3, 2 * samples);
    for (Index i = 0; i < samples; ++i) {
      starts.col(samples + i) = mirror(starts.col(i));
      targets.col(samples + i) = mirror(targets.col(i));
      groups.push_back(i % 3);
    }
  }
  Vector<double> h(ConstVectorRef<double> x) const {
    const Vector<double> a = g(x), b = g(mirror(x));
    const Index n = a.size();
    Vector<double> out(2 * n + 2);
    out << a, b, std::sin(a[0]) + std::sin(b[0]), std::cos(a[0]) - std::cos(b[0]);
    return out;
  }

  Index samples() const { return starts.cols(); }
  Index state_size() const { return 3; }
  Index feature_size(int) const { return 2 * g.c.size() + 2; }
  bool template_known() const { return known; }
  void features(Index i, int, ConstVectorRef<double> x, VectorRef<double> out) const {
    out = h(x);
    if (known) out -= h(targets.col(i));
  }
  Index group(Index i) const { return groups[static_cast<std::size_t>(i)]; }
  Symmetry symmetry(int) const {
    Symmetry result;
    if (!declared) return result;
    const Index n = g.c.size();
    for (Index i = 0; i < 2 * n; ++i) result.features.partner.push_back((i + n) % (2 * n));
    result.features.partner.push_back(2 * n);
    result.features.partner.push_back(2 * n + 1);
    result.features.sign.assign(static_cast<std::size_t>(2 * n + 2), 1);
    result.features.sign.back() = -1;
    result.deltas = {{1, 0, 2}, {1, 1, -1}};
    return result;
  }
  TrainResult<double> train(const TrainOptions& options) const {
    return sdm::train(*this, starts, targets, options);
  }
};

void expect_as_doubled_data(Index features, Index samples, bool known, TrainOptions options,
                            double tolerance = 1e-7) {
  options.stages = 3;
  const auto declared = Mirrored(features, samples, known, false).train(options);
  const auto doubled = Mirrored(features, samples, known, true).train(options);
  for (std::size_t k = 0; k < 3; ++k) {
    SCOPED_TRACE(k);
    const auto &a = declared.cascade.maps[k], &b = doubled.cascade.maps[k];
    EXPECT_LT(relative_gap(a.matrix(), b.matrix()), tolerance);
    EXPECT_LT((a.bias() - b.bias()).norm(), tolerance * (1 + b.bias().norm()));
    EXPECT_EQ(a.rank(), b.rank());
    EXPECT_NEAR(declared.summary.stages[k].penalty, doubled.summary.stages[k].penalty,
                tolerance * doubled.summary.stages[k].penalty);
    EXPECT_NEAR(declared.summary.stages[k].error_after, doubled.summary.stages[k].error_after,
                tolerance);
  }
}

TEST(SymmetricTraining, EqualsTrainingOnMirroredData) {
  for (const bool known : {true, false}) {
    TrainOptions options;
    options.penalty = Penalty::relative(1e-3);
    expect_as_doubled_data(6, 80, known, options);
    options.folds = 3;
    expect_as_doubled_data(6, 80, known, options);
    options.penalty = Penalty::held_out({1e-3, 1e-1, 10});
    expect_as_doubled_data(6, 80, known, options);
  }
}

TEST(SymmetricTraining, EqualsTrainingOnMirroredDataWithReducedRank) {
  for (const bool known : {true, false}) {
    TrainOptions options;
    options.penalty = Penalty::relative(1e-3);
    for (options.rank = 1; options.rank <= 3; ++options.rank)
      expect_as_doubled_data(6, 80, known, options);
  }
}

TEST(SymmetricTraining, EqualsTrainingOnMirroredDataInTheDualForm) {
  for (const bool known : {true, false}) {
    TrainOptions options;
    options.penalty = Penalty::relative(1e-2);
    expect_as_doubled_data(40, 12, known, options);
    options.folds = 3;
    expect_as_doubled_data(40, 12, known, options);
    const auto result = Mirrored(40, 12, known, false).train(options);
    EXPECT_TRUE(result.summary.stages[0].dual);
  }
}

TEST(SymmetricTraining, GivesMapsThatHaveTheSymmetry) {
  TrainOptions options;
  const Mirrored problem(5, 60, false, false);
  const auto map = problem.train(options).cascade.maps[0];
  const Vector<double> x = random_vector<double>(3, 7);
  Vector<double> scratch(0), here(3), there(3);
  map.apply(problem.h(x), scratch, here);
  map.apply(problem.h(Mirrored::mirror(x)), scratch, there);
  EXPECT_LT((Mirrored::mirror(here) - there).norm(), 1e-10);
}

TEST(SymmetricTraining, WorksWhereNothingIsOdd) {
  // All features are their own mirror image; a delta that flips can then only be zero.
  struct Even {
    using Scalar = double;
    Matrix<double> targets = random_matrix<double>(2, 30, 3);
    Index samples() const { return 30; }
    Index state_size() const { return 2; }
    Index feature_size(int) const { return 2; }
    bool template_known() const { return true; }
    void features(Index i, int, ConstVectorRef<double> x, VectorRef<double> out) const {
      out[0] = x[0] - targets(0, i);
      out[1] = x[1] * x[1];
    }
    Symmetry symmetry(int) const { return {{{0, 1}, {}}, {{0, 1}, {1, -1}}}; }
  } const problem;
  TrainOptions options;
  options.stages = 1;
  for (options.rank = 0; options.rank <= 2; ++options.rank) {
    const auto map =
        train(problem, random_matrix<double>(2, 30, 4), problem.targets, options).cascade.maps[0];
    EXPECT_NEAR(map.matrix()(0, 0), 1, 1e-4);
    EXPECT_EQ(map.matrix().row(1).norm(), 0);
  }
}

}  // namespace
}  // namespace sdm
