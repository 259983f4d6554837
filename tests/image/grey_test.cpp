#include "sdm/image/grey.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "image/scalar.h"
#include "sdm/base/error.h"
#include "tests/every_target.h"
#include "tests/image/pictures.h"

namespace sdm::image {
namespace {

constexpr Layout kLayouts[] = {Layout::rgb, Layout::bgr, Layout::rgba, Layout::bgra};

TEST(Grey, EqualsItsScalarTwinBitForBit) {
  const auto raw = noise<std::uint8_t>(4 * 300, 3, 1);
  for (Layout layout : kLayouts) {
    for (int width : {1, 2, 15, 16, 17, 67, 300}) {
      const ColourView<std::uint8_t> src{raw.view().data, width, 3, 4 * 300, layout};
      Image<std::uint8_t> expected(width, 3), found(width, 3);
      scalar::to_grey(src, expected);
      on_every_target([&] {
        to_grey(src, found);
        EXPECT_EQ(largest_difference(expected, found), 0);
      });
    }
  }
}

TEST(Grey, IsTheLumaOfBT601WithinAGreyLevel) {
  const auto raw = noise<std::uint8_t>(3 * 64, 1, 2);
  Image<std::uint8_t> out(64, 1);
  to_grey({raw.view().data, 64, 1, 3 * 64, Layout::bgr}, out);
  for (int x = 0; x < 64; ++x) {
    const double luma =
        0.114 * raw(3 * x, 0) + 0.587 * raw(3 * x + 1, 0) + 0.299 * raw(3 * x + 2, 0);
    EXPECT_NEAR(out(x, 0), luma, 1);
  }
}

TEST(Grey, OfSixteenBitsEqualsThatOfEight) {
  const auto raw = noise<std::uint8_t>(4 * 50, 1, 3);
  std::vector<std::uint16_t> deep;
  for (int i = 0; i < 200; ++i) deep.push_back(std::uint16_t(raw(i, 0) * 257));
  for (Layout layout : kLayouts) {
    Image<std::uint8_t> eight(50, 1), sixteen(50, 1);
    to_grey(ColourView<std::uint8_t>{raw.view().data, 50, 1, 200, layout}, eight);
    to_grey(ColourView<std::uint16_t>{deep.data(), 50, 1, 200, layout}, sixteen);
    EXPECT_LE(largest_difference(eight, sixteen), 1);
  }
  Image<std::uint8_t> single(200, 1);
  to_grey(ImageView<const std::uint16_t>(deep.data(), 200, 1), single);
  EXPECT_LE(largest_difference(single, raw), 1);
}

TEST(Grey, OfWhiteIsWhiteAndAlphaDoesNotCount) {
  const std::uint8_t white[] = {255, 255, 255, 0};
  const std::uint16_t deep[] = {65535, 65535, 65535, 0};
  Image<std::uint8_t> out(1, 1);
  to_grey(ColourView<std::uint8_t>{white, 1, 1, 4, Layout::rgba}, out);
  EXPECT_EQ(out(0, 0), 255);
  to_grey(ColourView<std::uint16_t>{deep, 1, 1, 4, Layout::bgra}, out);
  EXPECT_EQ(out(0, 0), 255);
}

TEST(Grey, RefusesAnOutputOfAnotherSize) {
  const std::uint8_t pixel[3] = {};
  Image<std::uint8_t> out(2, 1);
  EXPECT_THROW(to_grey({pixel, 1, 1, 3, Layout::rgb}, out), Error);
}

}  // namespace
}  // namespace sdm::image
