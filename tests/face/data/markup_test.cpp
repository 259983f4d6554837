#include "sdm/face/data/markup.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm::face {
namespace {

using io::expect_error;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

TEST(Markup, ReductionsHaveThePointsOfTheirNames) {
  for (int points : {68, 66, 51, 49}) {
    const Markup markup = ibug(points);
    EXPECT_EQ(markup.size(), points);
    EXPECT_EQ(int(markup.names.size()), points);
    EXPECT_EQ(int(markup.mirror.size()), points);
  }
  EXPECT_THAT(ibug(66).ids, Not(testing::AnyOf(Contains(60), Contains(64))));
  EXPECT_EQ(ibug(51).ids.front(), 17);
  EXPECT_EQ(ibug(51).ids.back(), 67);
  EXPECT_EQ(ibug(49).ids[43], 61);  // 60 is left out
}

TEST(Markup, MirroringTwiceGivesTheSamePoints) {
  for (int points : {68, 66, 51, 49}) {
    const std::vector<int> mirror = ibug(points).mirror;
    for (int i = 0; i < points; ++i) EXPECT_EQ(mirror[std::size_t(mirror[std::size_t(i)])], i);
  }
}

// The pairs as the 300-W drawing has them: outer and inner eye corners, mouth corners, jaw ends,
// brow ends, nostrils; the middle line stays.
TEST(Markup, MirrorExchangesLeftAndRight) {
  const std::vector<int> mirror = ibug(68).mirror;
  const std::vector<std::pair<int, int>> pairs{
      {0, 16},  {7, 9},   {17, 26}, {21, 22}, {31, 35}, {36, 45}, {37, 44}, {38, 43}, {39, 42},
      {40, 47}, {41, 46}, {48, 54}, {50, 52}, {55, 59}, {56, 58}, {60, 64}, {61, 63}, {65, 67}};
  for (const auto& [left, right] : pairs) EXPECT_EQ(mirror[std::size_t(left)], right);
  for (int middle : {8, 27, 28, 29, 30, 33, 51, 57, 62, 66})
    EXPECT_EQ(mirror[std::size_t(middle)], middle);
}

TEST(Markup, RegionsCoverEveryPointOnce) {
  const Markup markup = ibug(49);
  std::vector<int> seen;
  for (const Region& region : markup.regions)
    seen.insert(seen.end(), region.points.begin(), region.points.end());
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(int(seen.size()), 49);
  for (int i = 0; i < 49; ++i) EXPECT_EQ(seen[std::size_t(i)], i);
  EXPECT_EQ(markup.regions.front().name, "right_brow");
  EXPECT_EQ(markup.names[std::size_t(markup.regions.front().points.front())], "right_brow_0");
}

TEST(Markup, AMirrorNeedsBothPartners) {
  EXPECT_TRUE(ibug(std::vector{36, 30}).mirror.empty());
  EXPECT_THAT(ibug(std::vector{36, 30, 45}).mirror, ElementsAre(2, 1, 0));
}

// The drawing of 300-W: 36 and 45 are the corners at the temples.
TEST(Markup, TheUnitIsBetweenTheOuterEyeCorners) {
  for (int points : {68, 66, 51, 49}) {
    const Markup markup = ibug(points);
    EXPECT_EQ(markup.ids[std::size_t(markup.unit.first)], 36);
    EXPECT_EQ(markup.ids[std::size_t(markup.unit.second)], 45);
  }
  EXPECT_EQ(ibug(std::vector{36, 30}).unit, std::pair(-1, -1));
}

TEST(Markup, ARegionHasItsPointsAndAnUnknownOneNone) {
  EXPECT_THAT(ibug(66).region("jaw"), testing::SizeIs(17));
  EXPECT_THAT(ibug(51).region("jaw"), testing::IsEmpty());
  EXPECT_THAT(ibug(51).region("right_eye"), ElementsAre(19, 20, 21, 22, 23, 24));
  EXPECT_THAT(ibug(51).region("tail"), testing::IsEmpty());
}

TEST(Markup, IsKnownByTheNumbersOfThePoints) {
  std::vector<int> ids = ibug(66).ids;
  std::reverse(ids.begin(), ids.end());
  EXPECT_EQ(markup_of(ids).names, ibug(ids).names);
  EXPECT_EQ(markup_of(ids).mirror, ibug(ids).mirror);
  EXPECT_EQ(markup_of({36, 45}, ids).unit, std::pair(0, 1));
  // As many as a markup has, but others: 51 points of something else, numbered from 0.
  std::vector<int> others(51);
  for (int i = 0; i < 51; ++i) others[std::size_t(i)] = i;
  EXPECT_TRUE(markup_of(others).regions.empty());
  EXPECT_EQ(markup_of(others).unit, std::pair(-1, -1));
  EXPECT_EQ(markup_of(others).names[7], "7");
}

TEST(Markup, AMirrorIsReadFromAFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_mirror(folder.write("m.txt", "1 0\n2\n")), ElementsAre(1, 0, 2));
  for (const char* bad : {"1 0\n2.5\n", "1 0\ntwo\n", "1 0\n-1\n"})
    expect_error([&] { read_mirror(folder.write("m.txt", bad)); }, "m.txt:2: ");
  for (const char* empty : {"", "\n\n", "  \n"})
    expect_error([&] { read_mirror(folder.write("m.txt", empty)); }, "m.txt: no numbers");
  expect_error([&] { read_mirror(folder / "no.txt"); }, "no.txt: cannot be opened");
}

TEST(Markup, SelectPicksPointsByNumber) {
  Shape shape(2, 3);
  shape << 1, 2, 3, 4, 5, 6;
  const Shape picked = select(shape, {10, 20, 30}, {30, 40, 10});
  EXPECT_EQ(picked(0, 0), 3);
  EXPECT_TRUE(std::isnan(picked(0, 1)));
  EXPECT_EQ(picked(1, 2), 4);
}

TEST(Markup, AMirroredPointLiesInTheMirroredPixel) {
  Shape shape(2, 2);
  shape << 0, 99, 5, 6;
  const Shape mirror = mirrored(shape, {1, 0}, 100);
  EXPECT_EQ(mirror(0, 1), 99);  // the first pixel becomes the last
  EXPECT_EQ(mirror(0, 0), 0);
  EXPECT_EQ(mirror(1, 1), 5);
}

TEST(Markup, TellsWhatIsWrong) {
  expect_error([] { ibug(67); }, "67 points, expected 68, 66, 51 or 49");
  expect_error([] { ibug(std::vector{3, 68}); }, "point 68");
  expect_error([] { ibug(std::vector{3, 3}); }, "twice");
  expect_error([] { select(Shape(2, 3), {1, 2}, {1}); }, "3 points, expected 2");
  expect_error([] { mirrored(Shape(2, 3), {0}, 10); }, "for a shape of 3");
}

}  // namespace
}  // namespace sdm::face
