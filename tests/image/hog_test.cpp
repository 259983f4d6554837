#include "sdm/image/hog.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "image/scalar.h"
#include "sdm/base/error.h"
#include "tests/every_target.h"
#include "tests/image/pictures.h"

namespace sdm::image {
namespace {

constexpr Normalisation kNormalisations[] = {Normalisation::none, Normalisation::l2,
                                             Normalisation::l2_hys, Normalisation::sqrt_l1};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

GradientChannels channels_of(const Image<float>& image) {
  GradientChannels channels(image.width(), image.height());
  gradient_channels(image, channels);
  return channels;
}

std::vector<float> describe(const GradientChannels& channels, const Eigen::Matrix2Xf& points,
                            const HogOptions& options) {
  std::vector<float> out(std::size_t(points.cols() * options.size()), -1);
  hog(channels, points, options, out);
  return out;
}

std::vector<float> describe(const Image<float>& image, const DenseHogOptions& options) {
  std::vector<float> out(std::size_t(options.size(image.width(), image.height())), -1);
  dense_hog(image, options, out);
  return out;
}

void expect_near(std::span<const float> a, std::span<const float> b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}

double overlap(double a0, double a1, double b0, double b1) {
  return std::max(0.0, std::min(a1, b1) - std::max(a0, b0));
}

TEST(Hog, AtAnyPointEqualsItsScalarTwin) {
  const int sizes[][2] = {{1, 1}, {2, 1}, {13, 9}, {90, 70}};
  Eigen::Matrix2Xf points(2, 9);
  points << 0, 5.3f, 44.9f, 88.25f, -7, 1000, NAN, kInfinity, -kInfinity,  //
      0, 4.1f, 30.5f, 69.75f, 80, -1000, 20, 20, NAN;
  for (const auto& [w, h] : sizes) {
    const auto channels = channels_of(noise<float>(w, h, unsigned(w)));
    for (int cells = 1; cells <= HogOptions::kMaxCells; ++cells) {
      for (float cell : {0.5f, 3.f, 7.3f, 32.f}) {
        for (Normalisation how : kNormalisations) {
          for (bool subpixel : {true, false}) {
            const HogOptions options{
                .cells = cells, .cell = cell, .subpixel = subpixel, .normalisation = how};
            std::vector<float> expected(std::size_t(9 * options.size()));
            scalar::hog(channels, points, options, expected);
            on_every_target([&] {
              expect_near(describe(channels, points, options), expected,
                          how == Normalisation::none ? 2e-3 : 2e-4);
            });
          }
        }
      }
    }
  }
}

TEST(Hog, InWholeStepsIsWithinOneOfItsScalarTwin) {
  const auto channels = channels_of(noise<float>(90, 70, 3));
  Eigen::Matrix2Xf points(2, 3);
  points << 5.3f, 44.9f, 88.25f, 4.1f, 30.5f, 69.75f;
  for (int cells : {2, 3, 4})
    for (Normalisation how : kNormalisations) {
      const HogOptions options{.cells = cells, .cell = 5.4f, .normalisation = how};
      const float step = how == Normalisation::none ? 0.01f : 1e-4f;
      std::vector<std::int16_t> expected(std::size_t(3 * options.size())), found(expected.size());
      scalar::hog(channels, points, options, step, expected);
      on_every_target([&] {
        hog(channels, points, options, step, found);
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2) << i;
      });
    }
}

TEST(Hog, OfATallPictureKeepsEveryDigit) {
  // Wrapped sums: the steepest picture there is above a patch that is nearly flat.
  const auto image = picture<float>(
      500, 900, [](int x, int y) { return y < 850 ? (x / 2 + y / 2) % 2 * 255 : 100 + x % 2; });
  const auto channels = channels_of(image);
  const Eigen::Matrix2Xf points = Eigen::Vector2f(250.3f, 880.6f);
  const HogOptions options{.cells = 4, .cell = 6, .normalisation = Normalisation::none};
  std::vector<float> expected(std::size_t(options.size()));
  scalar::hog(channels, points, options, expected);
  on_every_target([&] { expect_near(describe(channels, points, options), expected, 1e-4); });
}

TEST(Hog, WeighsPixelsByTheAreaThatACellCovers) {
  const auto image = noise<float>(64, 56, 5);
  const auto channels = channels_of(image);
  const HogOptions options{.cells = 3, .cell = 6.7f, .normalisation = Normalisation::none};
  Eigen::Matrix2Xf points(2, 3);
  points << 30.3f, 4.f, 61.2f, 27.8f, 50.1f, -1.f;
  on_every_target([&] {
    const auto found = describe(channels, points, options);
    for (int i = 0; i < int(found.size()); ++i) {
      const int k = i % 8, c = i / 8 % 3, r = i / 24 % 3, p = i / options.size();
      const double cell = options.cell;
      const double x0 = points(0, p) + (c - 1.5) * cell, y0 = points(1, p) + (r - 1.5) * cell;
      double sum = 0;
      for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
          const double area =
              overlap(x - 0.5, x + 0.5, x0, x0 + cell) * overlap(y - 0.5, y + 0.5, y0, y0 + cell);
          if (area == 0) continue;
          auto vote = [&](int u, int v) { return channels.at(u, v).bin[k] / 256.0; };
          sum += area * (vote(x + 1, y + 1) - vote(x, y + 1) - vote(x + 1, y) + vote(x, y));
        }
      }
      EXPECT_NEAR(found[std::size_t(i)], sum / (cell * cell), 1e-3);
    }
  });
}

TEST(Hog, OfAPatchOutsideOrAtNoPointIsZeroAndStaysFinite) {
  const auto channels = channels_of(noise<float>(40, 40, 6));
  Eigen::Matrix2Xf points(2, 4);
  points << -50, 20, NAN, kInfinity, 20, 500, NAN, -kInfinity;
  for (Normalisation how : kNormalisations) {
    for (bool subpixel : {true, false}) {
      on_every_target([&] {
        for (float v : describe(channels, points, {.subpixel = subpixel, .normalisation = how})) {
          EXPECT_EQ(v, 0);
        }
      });
    }
  }
}

TEST(Hog, ValuesHaveTheNormThatTheirNormalisationPromises) {
  const auto channels = channels_of(noise<float>(60, 60, 7));
  const Eigen::Matrix2Xf point = Eigen::Vector2f(28.4f, 31.1f);
  on_every_target([&] {
    double l2 = 0, l1 = 0, hys = 0;
    for (float v : describe(channels, point, {.normalisation = Normalisation::l2})) l2 += v * v;
    for (float v : describe(channels, point, {.normalisation = Normalisation::l2_hys}))
      hys += v * v;
    for (float v : describe(channels, point, {.normalisation = Normalisation::sqrt_l1}))
      l1 += v * v;
    EXPECT_NEAR(l2, 1, 1e-4);
    EXPECT_NEAR(hys, 1, 1e-4);
    EXPECT_NEAR(l1, 1, 1e-4);
  });
}

TEST(Hog, OfARelitPictureIsTheSame) {
  const auto image = noise<float>(60, 60, 8);
  const auto relit = picture<float>(60, 60, [&](int x, int y) { return 0.6 * image(x, y) + 30; });
  const Eigen::Matrix2Xf point = Eigen::Vector2f(28.4f, 31.1f);
  for (Normalisation how : {Normalisation::l2, Normalisation::l2_hys, Normalisation::sqrt_l1}) {
    expect_near(describe(channels_of(image), point, {.normalisation = how}),
                describe(channels_of(relit), point, {.normalisation = how}), 1e-3);
    const DenseHogOptions dense{.normalisation = how, .epsilon = 1e-3f};
    expect_near(describe(image, dense), describe(relit, dense), 1e-3);
  }
}

TEST(Hog, OfAMirroredPictureIsAPermutation) {
  const auto image = noise<float>(70, 60, 9);
  const auto channels = channels_of(image), mirror = channels_of(mirrored(image));
  Eigen::Matrix2Xf points(2, 3);
  points << 31.3f, 2.6f, 66.7f, 28.2f, 10.9f, 57.4f;
  Eigen::Matrix2Xf there = points;
  there.row(0) = 69 - points.row(0).array();
  for (int cells : {1, 3, 4}) {
    for (bool subpixel : {true, false}) {
      const HogOptions options{.cells = cells, .cell = 5, .subpixel = subpixel};
      const auto permutation = mirror_permutation(cells, cells);
      on_every_target([&] {
        const auto seen = describe(channels, points, options);
        const auto found = describe(mirror, there, options);
        for (std::size_t i = 0; i < found.size(); ++i) {
          const std::size_t size = permutation.size();
          const auto from = std::size_t(permutation[i % size]);
          EXPECT_NEAR(found[i], seen[i / size * size + from], 1e-4);
        }
      });
    }
  }
  const DenseHogOptions dense{.cell = 10};
  const auto permutation = mirror_permutation(7, 6);
  const auto seen = describe(image, dense), found = describe(mirrored(image), dense);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], seen[std::size_t(permutation[i])], 1e-5);
  }
}

TEST(Hog, OfManyPointsIsThatOfEachPoint) {
  const auto channels = channels_of(noise<float>(134, 134, 10));
  const Eigen::Matrix2Xf points = (Eigen::Matrix2Xf::Random(2, 68).array() * 70 + 66).matrix();
  const auto all = describe(channels, points, {});
  ASSERT_EQ(all.size(), 68u * 128u);
  for (int p : {0, 13, 67}) {
    expect_near(std::span(all).subspan(std::size_t(p) * 128, 128),
                describe(channels, points.col(p), {}), 0);
  }
}

TEST(Hog, RefusesBadOptionsAndOutputs) {
  const auto channels = channels_of(noise<float>(20, 20, 11));
  const Eigen::Matrix2Xf point = Eigen::Vector2f(9, 9);
  std::vector<float> out(128);
  EXPECT_THROW(hog(channels, point, {.cells = 0}, out), Error);
  EXPECT_THROW(hog(channels, point, {.cells = 9}, out), Error);
  EXPECT_THROW(hog(channels, point, {.cell = 0.1f}, out), Error);
  EXPECT_THROW(hog(channels, point, {.cell = NAN}, out), Error);
  EXPECT_THROW(hog(channels, point, {.cell = 65}, out), Error);
  EXPECT_THROW(hog(channels, point, {.epsilon = 0}, out), Error);
  EXPECT_THROW(hog(channels, point, {}, std::span(out).first(127)), Error);
  EXPECT_THROW(hog(GradientChannels(5, 5), point, {}, out), Error);
  EXPECT_NO_THROW(hog(channels, Eigen::Matrix2Xf(2, 0), {}, {}));
}

TEST(DenseHog, OfAnySizeEqualsItsScalarTwin) {
  const int sizes[][2] = {{1, 1}, {5, 2}, {17, 33}, {100, 100}, {131, 40}, {300, 20}};
  for (const auto& [w, h] : sizes) {
    const auto floats = noise<float>(w, h, unsigned(w));
    const auto bytes = noise<std::uint8_t>(w, h, unsigned(w));
    for (int cell : {1, 3, 8, 10, 64}) {
      for (int radius : {0, 1, 1000}) {
        for (Normalisation how : kNormalisations) {
          const DenseHogOptions options{.cell = cell, .radius = radius, .normalisation = how};
          const int columns = options.columns(w), rows = options.rows(h);
          if (columns < 1 || rows < 1 || columns > DenseHogOptions::kMaxCells ||
              rows > DenseHogOptions::kMaxCells)
            continue;
          std::vector<float> expected(std::size_t(options.size(w, h))), found = expected;
          scalar::dense_hog(floats, options, expected);
          on_every_target([&] {
            dense_hog(floats, options, found);
            expect_near(found, expected, how == Normalisation::none ? 2e-3 : 1e-4);
            dense_hog(bytes, options, found);
            expect_near(found, expected, how == Normalisation::none ? 2e-3 : 1e-4);
          });
        }
      }
    }
  }
}

TEST(DenseHog, HoldsTheCellsOfTheIntegralImages) {
  const auto image = noise<float>(57, 43, 12);
  const auto channels = channels_of(image);
  const DenseHogOptions options{.cell = 8, .normalisation = Normalisation::none};
  // 57 = 7 x 8 + 1 and 43 = 5 x 8 + 3: the grid starts at (0, 1).
  const auto found = describe(image, options);
  for (int i = 0; i < int(found.size()); ++i) {
    const int k = i % 8, c = i / 8 % 7, r = i / 56;
    const int x = 8 * c, y = 8 * r + 1;
    auto at = [&](int u, int v) { return channels.at(u, v).bin[k] / 256.0; };
    const double sum = at(x + 8, y + 8) - at(x, y + 8) - at(x + 8, y) + at(x, y);
    EXPECT_NEAR(found[std::size_t(i)], sum / 64, 0.5 / 256);
  }
}

TEST(DenseHog, WithOneBlockHasUnitNorm) {
  const auto image = noise<float>(40, 40, 13);
  double l2 = 0, l1 = 0;
  for (float v : describe(image, {.radius = 9, .normalisation = Normalisation::l2})) l2 += v * v;
  for (float v : describe(image, {.radius = 9, .normalisation = Normalisation::sqrt_l1}))
    l1 += v * v;
  EXPECT_NEAR(l2, 1, 1e-3);
  EXPECT_NEAR(l1, 1, 1e-3);
}

TEST(DenseHog, RefusesBadOptionsAndSizes) {
  const auto image = noise<float>(100, 100, 14);
  std::vector<float> out(800), wide(129 * 8);
  EXPECT_NO_THROW(dense_hog(image, {}, out));
  EXPECT_THROW(dense_hog(image, {.cell = 0}, out), Error);
  EXPECT_THROW(dense_hog(image, {.cell = 65}, out), Error);
  for (int radius : {-1, 1001, std::numeric_limits<int>::max()}) {
    EXPECT_THROW(dense_hog(image, {.radius = radius}, out), Error);
    EXPECT_THROW(scalar::dense_hog(image, {.radius = radius}, out), Error);
  }
  EXPECT_THROW(dense_hog(image, {.epsilon = -1}, out), Error);
  EXPECT_THROW(dense_hog(image, {.cell = 9}, out), Error);
  EXPECT_THROW(dense_hog(noise<float>(5, 100, 1), {}, {}), Error);
  EXPECT_THROW(dense_hog(noise<float>(129, 1, 1), {.cell = 1}, wide), Error);
}

}  // namespace
}  // namespace sdm::image
