#include "sdm/face/data/roc.h"

#include <gtest/gtest.h>

#include <random>

#include "sdm/base/error.h"

namespace sdm::face {
namespace {

TEST(ARoc, OfPerfectScoresHasAnAreaOfOneAndOfReversedOnesZero) {
  EXPECT_DOUBLE_EQ(roc({{0.9, true}, {0.8, true}, {0.3, false}}).area, 1);
  EXPECT_DOUBLE_EQ(roc({{0.1, true}, {0.3, false}}).area, 0);
  EXPECT_DOUBLE_EQ(roc({{0.5, true}, {0.5, false}, {0.5, false}}).area, 0.5);
}

TEST(ARoc, HasTheAreaOfComparingEveryPair) {
  std::mt19937 random(1);
  std::vector<ScoredFit> fits;
  for (int i = 0; i < 300; ++i) {
    const bool good = random() % 3 == 0;
    fits.push_back({static_cast<double>(random() % 20 + (good ? 5 : 0)), good});
  }
  double won = 0, pairs = 0;
  for (const ScoredFit& a : fits)
    for (const ScoredFit& b : fits) {
      if (!a.good || b.good) continue;
      won += a.score > b.score ? 1 : a.score == b.score ? 0.5 : 0;
      ++pairs;
    }
  const Roc curve = roc(fits);
  EXPECT_NEAR(curve.area, won / pairs, 1e-12);
  EXPECT_EQ(curve.good + curve.failed, fits.size());
  EXPECT_EQ(curve.true_positives.back(), 1);
  EXPECT_EQ(curve.false_alarms.back(), 1);
}

TEST(ARoc, TellsTheTruePositivesAtAShareOfFalseAlarms) {
  const Roc curve = roc({{9, true}, {8, true}, {7, false}, {6, true}, {5, false}, {4, true}});
  EXPECT_DOUBLE_EQ(curve.true_positives_at(0), 0.5);
  EXPECT_DOUBLE_EQ(curve.true_positives_at(0.49), 0.5);
  EXPECT_DOUBLE_EQ(curve.true_positives_at(0.5), 0.75);
  EXPECT_DOUBLE_EQ(curve.true_positives_at(1), 1);
  EXPECT_DOUBLE_EQ(curve.at(6).true_positives, 0.75);
  EXPECT_DOUBLE_EQ(curve.at(6).false_alarms, 0.5);
  EXPECT_DOUBLE_EQ(curve.at(10).true_positives, 0);
  EXPECT_DOUBLE_EQ(curve.at(0).false_alarms, 1);
}

TEST(ARoc, NeedsGoodAndFailedFits) { EXPECT_THROW(roc({{0.5, true}}), Error); }

}  // namespace
}  // namespace sdm::face
