#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "sdm/face/data/annotations.h"
#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm::face {
namespace {

using io::expect_error;
using testing::ElementsAre;
using testing::HasSubstr;

PictureSize hundred_by_fifty(const std::filesystem::path&) { return {100, 50}; }

Annotations read(const std::filesystem::path& path, bool skip_bad = false) {
  return read_annotations(path, {.skip_bad = skip_bad, .size_of = hundred_by_fifty});
}

const char* const wings =
    "LM=3\r\n10. 0.\r\n20.5 49\r\n30 10\r\nIMAGE=a.jpg\r\nID=fly 1\r\nSCALE=0.002\r\n"
    "lm=3\n-1 -1\n1 2\nNA NA\nImage=D:\\wings\\b.jpg\nID=1\nCOMMENT=left = broken\nCURVES=0\n\n";

TEST(Tps, RowsAreCountedFromTheLastOne) {
  const TemporaryFolder folder;
  const Annotations found = read(folder.write("wings.tps", wings));
  ASSERT_EQ(found.faces.size(), 2u);
  EXPECT_THAT(found.ids, ElementsAre(0, 1, 2));
  EXPECT_EQ(found.faces[0].points.col(0), Eigen::Vector2f(10, 49));
  EXPECT_EQ(found.faces[0].points.col(1), Eigen::Vector2f(20.5F, 0));
  EXPECT_EQ(found.faces[0].file, "a.jpg");
  EXPECT_EQ(found.faces[0].group, "fly 1");
  EXPECT_EQ(found.faces[0].scale, 0.002);
  EXPECT_EQ(found.faces[0].where, (folder / "wings.tps").string() + ":1");
}

TEST(Tps, PointsThatWereNotSeenAreMissingAndFoldersOfOtherMachinesAreForgotten) {
  const TemporaryFolder folder;
  const Annotation face = read(folder.write("wings.tps", wings)).faces.at(1);
  EXPECT_TRUE(face.points.col(0).hasNaN());
  EXPECT_EQ(face.points.col(1), Eigen::Vector2f(1, 47));
  EXPECT_TRUE(face.points.col(2).hasNaN());
  EXPECT_EQ(face.file, "b.jpg");
  EXPECT_EQ(face.scale, 0);
}

TEST(Tps, ComesBackAsWrittenToTheLastBit) {
  const TemporaryFolder folder;
  Annotations written = read(folder.write("wings.tps", wings));
  written.faces[0].points.col(2) << 0.1F, 33.3333F;
  write_tps(folder / "again.tps", written, hundred_by_fifty);
  const Annotations again = read(folder / "again.tps");
  ASSERT_EQ(again.faces.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Annotation &a = again.faces[i], &b = written.faces[i];
    EXPECT_EQ(a.file, b.file);
    EXPECT_EQ(a.group, b.group);
    EXPECT_EQ(a.scale, b.scale);
    for (Eigen::Index k = 0; k < a.points.size(); ++k)
      EXPECT_TRUE(a.points(k) == b.points(k) ||
                  (std::isnan(a.points(k)) && std::isnan(b.points(k))))
          << i << " " << k;
  }
  written.faces[0].points.col(0) << -1, 60;
  expect_error([&] { write_tps(folder / "no.tps", written, hundred_by_fifty); },
               "point 0 of 'a.jpg' lies left of and below the picture");
}

TEST(Tps, WhatItCannotHoldIsRefusedByName) {
  const TemporaryFolder folder;
  const auto fails = [&](const std::string& text, const std::string& why) {
    expect_error([&] { read(folder.write("w.tps", text)); }, "w.tps:" + why);
  };
  fails("LM=1\n1 2\nCURVES=1\nPOINTS=2\n1 2\n3 4\nIMAGE=a.jpg\n",
        "3: CURVES=1: curves are not read");
  fails("LM=1\n1 2\nOUTLINES=1\nPOINTS=1\n1 2\nIMAGE=a.jpg\n", "3: OUTLINES=1: outlines are not");
  fails("LM3=1\n1 2 3\nIMAGE=a.jpg\n", "1: LM3=1: landmarks in space are not read");
  fails("LM=2\n1 2\nIMAGE=a.jpg\n", "1: 1 points, expected 2 as LM says");
  fails("LM=1\n1 2\n3 4\nIMAGE=a.jpg\n", "3: more points than the 1 of LM");
  fails("LM=1\n1 2 3\nIMAGE=a.jpg\n", "2: 3 numbers, expected 2");
  fails("LM=1\n1 2\nIMAGE=a.jpg\nLM=2\n1 2\n3 4\nIMAGE=b.jpg\n", "4: 2 points, expected 1 as in");
  fails("LM=1\n1 2\nID=1\n", "1: a specimen without IMAGE");
  fails("LM=0\nIMAGE=a.jpg\n", "1: '0' landmarks, expected a whole number");
  fails("LM=1\n1 NA\nIMAGE=a.jpg\n", "1: point 0 has one coordinate");
  fails("LM=1\n1 2\nIMAGE=a.jpg\nSCALE=0\n", "4: the scale 0");
  fails("1 2\n", "1: '1 2', expected LM=");
  expect_error([&] { read_annotations(folder.write("w.tps", wings)); },
               "nobody tells the pictures'");
}

TEST(Tps, ABadSpecimenIsLeftOutWhole) {
  const TemporaryFolder folder;
  const Annotations found =
      read(folder.write("w.tps",
                        "LM=1\n1 2\nIMAGE=a.jpg\nLM=1\nx y\nIMAGE=b.jpg\nLM=1\n1 2\nCURVES=1\n"
                        "POINTS=1\n1 2\nIMAGE=c.jpg\nLM=1\n5 6\nIMAGE=d.jpg\n"),
           true);
  ASSERT_EQ(found.faces.size(), 2u);
  EXPECT_EQ(found.faces[1].file, "d.jpg");
  EXPECT_THAT(found.skipped, ElementsAre(HasSubstr("w.tps:5: "), HasSubstr("w.tps:9: CURVES")));
}

TEST(Tps, TheWingsAreRead) {
  const std::filesystem::path path = std::filesystem::path(SDM_SHARED_DATA) / "wings";
  if (!std::filesystem::exists(path)) {
    std::puts("skipped: needs ../shared/data");
    GTEST_SKIP();
  }
  const Annotations found = read_annotations(
      path / "wings.tps", {.pictures = path / "images", .size_of = [](const auto&) {
                             return PictureSize{632, 480};
                           }});
  EXPECT_EQ(found.faces.size(), 34u);
  EXPECT_EQ(found.ids.size(), 12u);
  EXPECT_TRUE(std::filesystem::exists(found.path(found.faces[33])));
}

}  // namespace
}  // namespace sdm::face
