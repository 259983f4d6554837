#include "sdm/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace sdm {
namespace {

std::vector<double> numbers(Random random, int count = 1000) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(random.uniform());
  return values;
}

TEST(Random, IsTheSameForTheSameSeedPurposeAndIndexAlone) {
  EXPECT_EQ(numbers({1, "folds", 2}), numbers({1, "folds", 2}));
  EXPECT_NE(numbers({1, "folds", 2}), numbers({2, "folds", 2}));
  EXPECT_NE(numbers({1, "folds", 2}), numbers({1, "starts", 2}));
  EXPECT_NE(numbers({1, "folds", 2}), numbers({1, "folds", 3}));
}

// Streams that overlap, as those of a generator seeded with seed + index do, share numbers.
TEST(Random, HasNeighbouringStreamsThatShareNothing) {
  std::set<double> seen;
  std::size_t drawn = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (const char* purpose : {"a", "b"})
      for (std::uint64_t index = 0; index < 10; ++index)
        for (const double value : numbers({seed, purpose, index}, 50)) {
          seen.insert(value);
          ++drawn;
        }
  EXPECT_EQ(seen.size(), drawn);  // 10,000 of 2^53 numbers: two alike by chance in 10^8 runs
}

// The 10,000th number of the engine is fixed by the standard; the hash is checked by its
// definition.
TEST(Random, HasTheStandardsEngine) {
  std::mt19937_64 engine;
  engine.discard(9999);
  EXPECT_EQ(engine(), 9981545732273789042ull);
}

TEST(Random, IsEvenBetweenItsEnds) {
  Random random(3, "test");
  constexpr int kCount = 100000;
  std::vector<int> bins(10);
  double sum = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = random.uniform(-2, 3);
    ASSERT_GE(value, -2);
    ASSERT_LT(value, 3);
    sum += value;
    ++bins[static_cast<std::size_t>((value + 2) * 2)];
  }
  // Six standard deviations.
  EXPECT_NEAR(sum / kCount, 0.5, 6 * 5 / std::sqrt(12.0 * kCount));
  for (const int count : bins) EXPECT_NEAR(count, 10000, 6 * std::sqrt(9000));
}

TEST(Random, HasNormalNumbersWithTheirMoments) {
  Random random(4, "test");
  constexpr int kCount = 200000;
  double sum = 0, squares = 0, fourth = 0, beyond = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
    fourth += std::pow(value, 4);
    beyond += std::abs(value) > 1.959964 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 0, 6 / std::sqrt(kCount));
  EXPECT_NEAR(squares / kCount, 1, 6 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(fourth / kCount, 3, 6 * std::sqrt(96.0 / kCount));
  EXPECT_NEAR(beyond / kCount, 0.05, 6 * std::sqrt(0.0475 / kCount));
}

TEST(Random, GivesWholeNumbersBelowACountAndBothSigns) {
  Random random(5, "test");
  std::vector<int> counts(7);
  int positive = 0;
  for (int i = 0; i < 70000; ++i) {
    const std::size_t value = random.below(7);
    ASSERT_LT(value, 7U);
    ++counts[value];
    positive += random.sign() > 0 ? 1 : 0;
  }
  for (const int count : counts) EXPECT_NEAR(count, 10000, 6 * std::sqrt(8572));
  EXPECT_NEAR(positive, 35000, 6 * std::sqrt(17500));
  EXPECT_EQ(random.below(1), 0U);
}

TEST(Shuffle, KeepsTheValuesAndPutsEachEverywhere) {
  std::vector<std::vector<int>> at(4, std::vector<int>(4));
  for (std::uint64_t i = 0; i < 4000; ++i) {
    std::vector<int> values = {0, 1, 2, 3};
    Random random(6, "test", i);
    shuffle(values, random);
    EXPECT_EQ(std::set<int>(values.begin(), values.end()).size(), 4U);
    for (std::size_t place = 0; place < 4; ++place)
      ++at[static_cast<std::size_t>(values[place])][place];
  }
  for (const auto& places : at)
    for (const int count : places) EXPECT_NEAR(count, 1000, 6 * std::sqrt(750));
}

// Against the probabilities themselves: sum of (found - expected)^2 / expected over the counts.
TEST(Random, DrawsPoissonCountsAsOftenAsTheyAreLikely) {
  for (const double mean : {0.3, 4.0, 11.9, 12.1, 60.0, 900.0}) {
    constexpr int draws = 100000;
    Random random(1, "counts");
    std::vector<double> found(static_cast<std::size_t>(mean + 12 * std::sqrt(mean) + 20), 0.0);
    double sum = 0;
    for (int i = 0; i < draws; ++i) {
      const double count = random.poisson(mean);
      ASSERT_EQ(count, std::floor(count));
      ASSERT_LT(count, static_cast<double>(found.size()));
      ++found[static_cast<std::size_t>(count)];
      sum += count;
    }
    EXPECT_NEAR(sum / draws, mean, 4 * std::sqrt(mean / draws));
    double chi_squared = 0, cells = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double n = static_cast<double>(k);
      const double expected = draws * std::exp(n * std::log(mean) - mean - std::lgamma(n + 1));
      if (expected < 10) continue;
      chi_squared += (found[k] - expected) * (found[k] - expected) / expected;
      ++cells;
    }
    EXPECT_LT(chi_squared, cells + 4 * std::sqrt(2 * cells)) << "mean " << mean;
  }
  EXPECT_EQ(Random(1, "none").poisson(0), 0);
  EXPECT_EQ(Random(1, "none").poisson(-1), 0);
}

}  // namespace
}  // namespace sdm
