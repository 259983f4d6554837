#include "sdm/face/data/read_pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "sdm/base/error.h"

namespace sdm::face {
namespace {

using Picture = image::Image<std::uint8_t>;

// A picture as wide as the number in its file's name; "bad" cannot be read.
Picture read_numbered(const std::filesystem::path& path) {
  if (path == "bad") throw Error("bad: not a picture");
  return Picture(std::stoi(path.string()), 1);
}

std::vector<std::filesystem::path> numbered(int count) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i <= count; ++i) files.emplace_back(std::to_string(i));
  return files;
}

TEST(ReadPictures, HandsEachPictureToTheWorkOnceAndThenInOrder) {
  constexpr int kCount = 300;  // more than are in memory at a time
  ThreadPool pool(3);
  std::vector<std::atomic<int>> seen(kCount);
  std::vector<std::size_t> order;
  PictureWork work;
  work.in_parallel = [&](std::size_t i, image::ByteView picture, int worker) {
    EXPECT_EQ(picture.width, int(i) + 1);
    EXPECT_LT(worker, 3);
    ++seen[i];
  };
  work.in_order = [&](std::size_t i, image::ByteView picture) {
    EXPECT_EQ(picture.width, int(i) + 1);
    EXPECT_EQ(seen[i], 1);
    order.push_back(i);
  };
  const auto failures = read_pictures(numbered(kCount), read_numbered, pool, work);
  ASSERT_EQ(order.size(), std::size_t(kCount));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_THAT(failures, testing::Each(""));
}

TEST(ReadPictures, GoesOnAfterAFailureAndTellsIt) {
  ThreadPool pool(2);
  std::vector<int> widths;
  PictureWork work;
  work.in_parallel = [](std::size_t, image::ByteView picture, int) {
    if (picture.width == 4) throw Error("4: no face");
  };
  work.in_order = [&](std::size_t, image::ByteView picture) { widths.push_back(picture.width); };
  const auto failures = read_pictures({"7", "bad", "4", "9"}, read_numbered, pool, work);
  EXPECT_THAT(failures, testing::ElementsAre("", "bad: not a picture", "4: no face", ""));
  EXPECT_THAT(widths, testing::ElementsAre(7, 0, 0, 9)) << "a picture that failed is empty";
}

TEST(ReadPictures, TellsHowFarItIsUpToTheEnd) {
  ThreadPool pool(3);
  std::vector<double> shares;
  PictureWork work;
  work.progress = [&](double share) { shares.push_back(share); };
  read_pictures(numbered(200), read_numbered, pool, work);
  EXPECT_EQ(shares.size(), 200U);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
}

}  // namespace
}  // namespace sdm::face
