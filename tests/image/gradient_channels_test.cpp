#include "sdm/image/gradient_channels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "image/scalar.h"
#include "sdm/base/error.h"
#include "tests/every_target.h"
#include "tests/image/pictures.h"

namespace sdm::image {
namespace {

// Votes in a rectangle, in grey levels.
double votes(const GradientChannels& c, int x0, int y0, int x1, int y1, int k) {
  const auto wrapped = std::uint32_t(c.at(x1, y1).bin[k]) - std::uint32_t(c.at(x0, y1).bin[k]) -
                       std::uint32_t(c.at(x1, y0).bin[k]) + std::uint32_t(c.at(x0, y0).bin[k]);
  return std::int32_t(wrapped) / 256.0;
}

Eigen::Vector2d direction(int k) {
  const double angle = k * std::numbers::pi / 4;
  return {std::cos(angle), std::sin(angle)};
}

template <class T>
Eigen::Vector2d gradient(const Image<T>& image, int x, int y) {
  auto at = [&](int u, int v) {
    return double(image(std::clamp(u, 0, image.width() - 1), std::clamp(v, 0, image.height() - 1)));
  };
  return {(at(x + 1, y) - at(x - 1, y)) / 2, (at(x, y + 1) - at(x, y - 1)) / 2};
}

TEST(GradientChannels, OfAnySizeEqualTheirScalarTwin) {
  const int sizes[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 3}, {17, 5}, {192, 3}, {193, 4}, {400, 7}};
  for (const auto& [w, h] : sizes) {
    const auto bytes = noise<std::uint8_t>(w, h, unsigned(w));
    const auto whole = noise<float>(w, h, unsigned(w));
    const auto floats = picture<float>(w, h, [&](int x, int y) {
      return std::min(255.0, whole(x, y) + 0.37 * std::sin(x + 2 * y));
    });
    const auto parts = picture<std::int16_t>(
        w, h, [&](int x, int y) { return std::lrint(kPixelParts * floats(x, y)); });
    GradientChannels expected(w, h), expected_bytes(w, h), found(w, h), of_bytes(w, h),
        of_parts(w, h);
    scalar::gradient_channels(floats, expected);
    scalar::gradient_channels(whole, expected_bytes);
    on_every_target([&] {
      gradient_channels(floats, found);
      gradient_channels(bytes, of_bytes);
      gradient_channels(parts, of_parts);
      for (int y = 0; y < floats.height(); ++y) {
        for (int x = 0; x < floats.width(); ++x) {
          for (int k = 0; k < kBins; ++k) {
            const double v = votes(found, x, y, x + 1, y + 1, k);
            EXPECT_EQ(v, votes(expected, x, y, x + 1, y + 1, k));
            EXPECT_EQ(v, votes(of_parts, x, y, x + 1, y + 1, k));
            EXPECT_EQ(votes(of_bytes, x, y, x + 1, y + 1, k),
                      votes(expected_bytes, x, y, x + 1, y + 1, k));
          }
        }
      }
    });
  }
}

TEST(GradientChannels, VoteForTheTwoNearestDirectionsSoThatTheyAddUpToTheGradient) {
  const auto image = noise<float>(40, 30, 9);
  GradientChannels channels(40, 30);
  on_every_target([&] {
    gradient_channels(image, channels);
    for (int y = 0; y < 30; ++y) {
      for (int x = 0; x < 40; ++x) {
        Eigen::Vector2d sum(0, 0);
        double total = 0;
        int voted = 0;
        for (int k = 0; k < kBins; ++k) {
          const double v = votes(channels, x, y, x + 1, y + 1, k);
          EXPECT_GE(v, 0);
          sum += v * direction(k);
          total += v;
          voted += v > 0;
        }
        const Eigen::Vector2d g = gradient(image, x, y);
        EXPECT_LE((sum - g).norm(), 0.01);
        EXPECT_LE(voted, 2);
        EXPECT_GE(total, g.norm() - 0.01);
        EXPECT_LE(total, 1.083 * g.norm() + 0.01);
      }
    }
  });
}

TEST(GradientChannels, KeepEveryDigitOfACellOnALargePicture) {
  // The steepest picture there is: the whole sum is some 2^33, so the integers wrap around.
  const auto image =
      picture<float>(512, 512, [](int x, int y) { return (x / 2 + y / 2) % 2 * 255; });
  GradientChannels channels(512, 512);
  on_every_target([&] {
    gradient_channels(image, channels);
    for (int at : {0, 5, 200, 400, 503}) {
      double expected[kBins] = {};
      for (int y = at; y < at + 9; ++y) {
        for (int x = at; x < at + 9; ++x) {
          const Eigen::Vector2d g = gradient(image, x, y);
          for (int k = 0; k < kBins; ++k) {
            // Coordinates of g in the basis of direction k and its neighbour on g's side.
            const double side = direction((k + 2) % 8).dot(g);
            const double v = direction(k).dot(g) - std::abs(side);
            expected[k] += std::max(0.0, v);
          }
        }
      }
      // A vote is rounded to 1/256.
      for (int k = 0; k < kBins; ++k) {
        EXPECT_NEAR(votes(channels, at, at, at + 9, at + 9, k), expected[k], 81 * 0.5 / 256);
      }
    }
  });
}

TEST(GradientChannels, OfAFlatPictureAreEmptyAndOfARampFillOneBin) {
  GradientChannels channels(50, 50);
  gradient_channels(Image<float>(50, 50, 200), channels);
  for (int k = 0; k < kBins; ++k) EXPECT_EQ(votes(channels, 0, 0, 50, 50, k), 0);
  for (int bin = 0; bin < kBins; ++bin) {
    const Eigen::Vector2d d = direction(bin);
    gradient_channels(
        picture<float>(50, 50, [&](int x, int y) { return 128 + d.x() * x + d.y() * y; }),
        channels);
    for (int k = 0; k < kBins; ++k) {
      EXPECT_NEAR(votes(channels, 1, 1, 49, 49, k), k == bin ? 48 * 48 : 0, 5) << bin;
    }
  }
}

TEST(GradientChannels, AreReusedForSmallerPicturesAndRefuseLargerOnes) {
  GradientChannels used(60, 60), fresh(20, 10);
  gradient_channels(noise<float>(60, 60, 1), used);
  const auto small = noise<float>(20, 10, 2);
  gradient_channels(small, used);
  gradient_channels(small, fresh);
  for (int k = 0; k < kBins; ++k) {
    EXPECT_EQ(votes(used, 0, 0, 20, 10, k), votes(fresh, 0, 0, 20, 10, k));
  }
  EXPECT_THROW(gradient_channels(noise<float>(61, 61, 1), used), Error);
  EXPECT_THROW(gradient_channels(FloatView(), used), Error);
  EXPECT_THROW(GradientChannels(0, 5), Error);
}

}  // namespace
}  // namespace sdm::image
