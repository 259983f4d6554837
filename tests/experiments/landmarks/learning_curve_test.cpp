// On drawn leaves: no data is needed.
#include "experiments/landmarks/learning_curve.h"

#include <gtest/gtest.h>

#include "adapters/peers/leaves.h"
#include "sdm/base/error.h"

namespace sdm::experiments {
namespace {

LandmarkSet some_leaves(int learned, int held_out) {
  LandmarkSet set;
  set.name = "leaves";
  set.faces = peers::draw_leaves(1, 0, learned);
  if (held_out > 0) set.test = peers::draw_leaves(1, learned, held_out);
  set.budget = 0;  // the first setting alone
  set.most_for_trees = 0;
  return set;
}

TEST(Leaves, AreTheSameWhateverElseIsDrawn) {
  const auto many = peers::draw_leaves(3, 5, 3);
  const face::TrainingFace one = peers::draw_leaf(3, 7);
  EXPECT_EQ(many[2].truth, one.truth);
  EXPECT_EQ(many[2].picture(80, 80), one.picture(80, 80));
  EXPECT_NE(many[1].truth, one.truth);
}

TEST(Leaves, HaveTheirPointsWhereTheyAreDrawn) {
  double spot = 0, beside = 0;
  for (const face::TrainingFace& leaf : peers::draw_leaves(2, 0, 20)) {
    ASSERT_EQ(leaf.truth.cols(), 7);
    EXPECT_GE(leaf.truth.minCoeff(), 0);
    EXPECT_LE(leaf.truth.maxCoeff(), 159);
    const auto value = [&](const Eigen::Vector2f& p) {
      return double(leaf.picture(int(p.x() + 0.5F), int(p.y() + 0.5F)));
    };
    const Eigen::Vector2f at = leaf.truth.col(6);
    spot += value(at);
    beside += value(at + Eigen::Vector2f(0, 6));
  }
  EXPECT_LT(spot, 0.6 * beside);  // dark on the blade
}

TEST(LearningCurve, FallsWithTheNumberOfLeavesLearnedFrom) {
  LandmarkSet set = some_leaves(60, 30);
  set.sizes = {10, 60, 100};
  const auto points = learning_curve(set, 1, 2, {});
  ASSERT_EQ(points.size(), 2U);  // there are no 100
  EXPECT_EQ(points[0].samples, 10);
  EXPECT_EQ(points[1].samples, 60);
  EXPECT_LT(points[1].error, 0.9 * points[0].error);
}

TEST(LearningCurve, TellsErrorsInPercentOfADistance) {
  LandmarkSet set = some_leaves(20, 10);
  set.sizes = {20};
  const double pixels = learning_curve(set, 1, 2, {}).at(0).error;
  set.unit = "%";
  set.over = {0, 1};  // tip and foot, 80 to 104 px apart
  const double percent = learning_curve(set, 1, 2, {}).at(0).error;
  EXPECT_GT(percent, 0.5 * 100 * pixels / 104);
  EXPECT_LT(percent, 2 * 100 * pixels / 80);
}

TEST(LearningCurve, EndsWithAllThatFourFoldsHave) {
  LandmarkSet set = some_leaves(15, 0);
  set.sizes = {8, 40};
  const auto points = learning_curve(set, 1, 2, {});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].samples, 12);
}

TEST(LearningCurve, ComparesWithDlibWhereItIs) {
  LandmarkSet set = some_leaves(10, 5);
  set.sizes = {10};
  set.most_for_trees = 10;
  const auto points = learning_curve(set, 1, 2, {});
  ASSERT_EQ(points.size(), peers::have_dlib_trees() ? 2U : 1U);
  if (points.size() == 2) {
    EXPECT_EQ(points[1].method, "dlib");
    EXPECT_LT(points[1].error, 20);  // on the leaf
  }
}

TEST(DlibTrees, NeedABox) {
  auto leaves = peers::draw_leaves(1, 0, 3);
  leaves[1].boxes.clear();
  EXPECT_THROW(peers::dlib_trees(leaves, {}, {}), Error);
}

}  // namespace
}  // namespace sdm::experiments
