#include "sdm/pose/object.h"

#include <gmock/gmock.h>

#include <set>

#include "sdm/base/error.h"

namespace sdm::pose {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Points3 along(const Eigen::Vector3d& direction, int count) {
  Points3 points(3, count);
  for (int i = 0; i < count; ++i) points.col(i) = direction * (i - 1.3) + Eigen::Vector3d(5, 6, 7);
  return points;
}

TEST(Object, KnowsALineAPlaneAndASolid) {
  EXPECT_EQ(dimension(along({0, 0, 0}, 5)), 0);
  EXPECT_EQ(dimension(along({1, 2, 3}, 5)), 1);
  Points3 plane = cube();
  plane.row(2) = 3 * plane.row(0) - plane.row(1);
  EXPECT_EQ(dimension(plane), 2);
  EXPECT_EQ(dimension(cube()), 3);
}

TEST(Object, AnObjectWithoutAPoseIsRejectedBySentence) {
  EXPECT_THAT([] { check_object(cube().leftCols<3>()); },
              ThrowsMessage<Error>("the object has 3 points, expected at least 4"));
  EXPECT_THAT(
      [] {
        check_object(along({1, 2, 3}, 6));
      },
      ThrowsMessage<Error>(HasSubstr("one line")));
  EXPECT_THAT(
      [] {
        check_object(along({0, 0, 0}, 6));
      },
      ThrowsMessage<Error>(HasSubstr("all one")));
  Points3 broken = cube();
  broken(1, 4) = std::numeric_limits<double>::infinity();
  EXPECT_THAT([&] { check_object(broken); }, ThrowsMessage<Error>(HasSubstr("point 4")));
}

TEST(Object, APlaneIsAllowed) {
  Points3 plane = cube();
  plane.row(2).setZero();
  EXPECT_NO_THROW(check_object(plane));
}

TEST(Object, TheCubeHasTwelveEdgesOfItsSide) {
  const Points3 corners = cube(200);
  int edges = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < i; ++j) edges += (corners.col(i) - corners.col(j)).norm() == 200;
  EXPECT_EQ(edges, 12);
  EXPECT_TRUE(corners.rowwise().sum().isZero());
}

TEST(Obj, VerticesComeInFileOrder) {
  const Points3 points = parse_obj(
      "# a comment\r\nmtllib x.mtl\nv 1 2 3\r\nvn 0 0 1\n  v -1e-2 +4 5.5 1.0\n", "a.obj");
  Points3 expected(3, 2);
  expected << 1, -0.01, 2, 4, 3, 5.5;
  EXPECT_EQ(points, expected);
}

TEST(Obj, AGroupKeepsOnlyTheVerticesOfItsFaces) {
  const char* text =
      "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nv 4 0 0\n"
      "g skin\nf 1/1/1 3//2 -1\ng helper\nf 2 3 4\n";
  const Points3 points = parse_obj(text, "a.obj", "skin");
  EXPECT_EQ(points.row(0), Eigen::RowVector3d(0, 2, 4));
  EXPECT_THAT([&] { parse_obj(text, "a.obj", "hair"); },
              ThrowsMessage<Error>("a.obj: no face in a group \"hair\""));
}

TEST(Obj, AMalformedFileIsRejectedWithItsLine) {
  EXPECT_THAT([] { parse_obj("v 1 2 3\nv 1 two 3\n", "a.obj"); },
              ThrowsMessage<Error>("a.obj:2: a vertex has \"two\", expected three numbers"));
  EXPECT_THAT([] { parse_obj("v 1 2\n", "a.obj"); }, ThrowsMessage<Error>(HasSubstr("a.obj:1")));
  EXPECT_THAT([] { parse_obj("v 1 2 nan\n", "a.obj"); }, ThrowsMessage<Error>(HasSubstr("nan")));
  for (const char* face : {"f 1 2 9", "f 0 1 1", "f 1 x 1", "f -3 1 1", "f 1.5 1 1"})
    EXPECT_THAT([&] { parse_obj(std::string("v 1 2 3\nv 1 1 1\n") + face, "a.obj"); },
                ThrowsMessage<Error>(HasSubstr("a.obj:3: a face names vertex")));
  for (const char* text : {"", "PK\x03\x04 not an object", "o thing\n"})
    EXPECT_THAT([&] { parse_obj(text, "a.obj"); }, ThrowsMessage<Error>(HasSubstr("no vertex")));
}

TEST(PointList, TakesCommasSpacesCommentsAndAHeading) {
  const Points3 points = parse_points("x,y,z\n1,2,3\n# far\n 4 5\t6 # near\n\n", "p.csv");
  Points3 expected(3, 2);
  expected << 1, 4, 2, 5, 3, 6;
  EXPECT_EQ(points, expected);
}

TEST(PointList, AMalformedLineIsRejectedWithItsNumber) {
  EXPECT_THAT([] { parse_points("1,2,3\n1,2\n", "p.csv"); },
              ThrowsMessage<Error>("p.csv:2: \"1,2\", expected three numbers X, Y, Z"));
  EXPECT_THAT([] { parse_points("1,2,3\n1,b,2\n", "p.csv"); },
              ThrowsMessage<Error>(HasSubstr("p.csv:2")));
  // With one number it is no heading.
  EXPECT_THAT([] { parse_points("-100,-100,-1oo\n1,2,3\n", "p.csv"); },
              ThrowsMessage<Error>(HasSubstr("p.csv:1: \"-100,-100,-1oo\"")));
  EXPECT_THAT([] { parse_points("x y z\n", "p.csv"); },
              ThrowsMessage<Error>(HasSubstr("no points")));
}

TEST(SpreadPoints, AreDifferentAndCoverTheObject) {
  const Points3 cloud = Points3::Random(3, 400);
  const auto chosen = spread_points(cloud, 40);
  EXPECT_EQ(std::set<Eigen::Index>(chosen.begin(), chosen.end()).size(), 40u);
  // Farthest-first: no point of the cloud is farther from the chosen ones than they are apart.
  double apart = 1e9, hole = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      apart = std::min(apart, (cloud.col(chosen[i]) - cloud.col(chosen[j])).norm());
  for (const auto& point : cloud.colwise()) {
    double distance = 1e9;
    for (const auto i : chosen) distance = std::min(distance, (point - cloud.col(i)).norm());
    hole = std::max(hole, distance);
  }
  EXPECT_LE(hole, apart);
  EXPECT_THROW(spread_points(cloud, 401), Error);
}

}  // namespace
}  // namespace sdm::pose
