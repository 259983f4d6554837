#include "sdm/face/data/sense.h"

#include <gmock/gmock.h>

#include <cmath>

#include "sdm/base/random.h"
#include "tests/io/expect_error.h"

namespace sdm::face {
namespace {

using io::expect_error;
using testing::HasSubstr;

constexpr PictureSize kSize{640, 480};

// Eight faces of four points that differ a little, with boxes around them.
Annotations good_faces() {
  Annotations annotations;
  annotations.ids = {0, 1, 2, 3};
  Random random(1, "sense");
  for (int i = 0; i < 8; ++i) {
    Shape points(2, 4);
    points << 100, 200, 150, 120, 100, 110, 160, 240;
    for (float& v : points.reshaped()) v += float(3 * random.normal());
    points.row(0).array() += float(20 * i);
    Annotation face{"picture" + std::to_string(i), points, Box{float(80 + 20 * i), 80, 150, 180}};
    face.where = "f.csv:" + std::to_string(i + 2);
    annotations.faces.push_back(face);
  }
  return annotations;
}

std::vector<Finding> findings(const Annotations& annotations) {
  return check_sense(annotations, std::vector(annotations.faces.size(), kSize));
}

void expect_one(const Annotations& annotations, const std::string& where, const std::string& what) {
  const std::vector<Finding> found = findings(annotations);
  ASSERT_EQ(found.size(), 1u) << what;
  EXPECT_EQ(found[0].where, where);
  EXPECT_THAT(found[0].what, HasSubstr(what));
}

TEST(Sense, GoodFacesGiveNothingToSay) {
  EXPECT_TRUE(findings(good_faces()).empty());
  Annotations missing = good_faces();
  missing.faces[3].points.col(1).setConstant(std::nanf(""));
  missing.faces[4].points.setConstant(std::nanf(""));
  missing.faces[5].box.reset();
  EXPECT_TRUE(findings(missing).empty());
  EXPECT_TRUE(check_sense(missing, {}).empty());
  Annotations boxes = good_faces();
  boxes.ids.clear();
  for (Annotation& face : boxes.faces) face.points.resize(2, 0);
  EXPECT_TRUE(findings(boxes).empty());
}

TEST(Sense, PointsOutsideThePictureAreTold) {
  Annotations faces = good_faces();
  faces.faces[2].points.col(1) << 700, 100;
  faces.faces[2].box.reset();
  expect_one(faces, "f.csv:4",
             "1 of 4 points lie outside the picture of 640 x 480: point 1 at (700");
  faces.names = {"ear", "tail", "nose", "foot"};
  expect_one(faces, "f.csv:4", "point 'tail' at");
}

TEST(Sense, SwappedCoordinatesAreToldInsideThePictureToo) {
  Annotations faces = good_faces();
  faces.faces[1].points = faces.faces[1].points.colwise().reverse().eval();
  faces.faces[1].box.reset();
  expect_one(faces, "f.csv:3", "x and y look swapped");
}

TEST(Sense, SwappedCoordinatesOfEveryFaceAreToldWhereTheyLeaveThePicture) {
  Annotations faces = good_faces();
  for (Annotation& face : faces.faces) {
    face.points.row(0).array() += 400 - face.points(0, 0);
    face.points = face.points.colwise().reverse().eval();
    face.points.row(1).array() += 90;
    face.box.reset();
  }
  EXPECT_EQ(findings(faces).size(), 8u);
  for (const Finding& finding : findings(faces))
    EXPECT_THAT(finding.what, HasSubstr("x and y look swapped"));
}

TEST(Sense, BoxesThatAreCornersAreTold) {
  Annotations faces = good_faces();
  faces.faces[0].points.array() += 200;
  faces.faces[0].box = Box{280, 280, 430, 460};  // of 150 x 180
  expect_one(faces, "f.csv:2", "the box 280,280,430,460 looks like two corners");
}

TEST(Sense, BoxesThatAreAllCornersAreToldOnce) {
  Annotations faces = good_faces();
  Random random(2, "boxes");
  for (Annotation& face : faces.faces) {
    face.points.array() += float(60 * random.uniform());
    const Eigen::AlignedBox2f around = bounds(face.points);
    const float noise = float(2 * random.normal());
    face.box = Box{around.min().x() - 10 + noise, around.min().y() - 12, around.max().x() + 9,
                   around.max().y() + 11 + noise};
  }
  expect_one(faces, "f.csv:2", "as all others, looks like two corners");
  for (Annotation& face : faces.faces) {
    face.box->width -= face.box->x;
    face.box->height -= face.box->y;
  }
  EXPECT_TRUE(findings(faces).empty());
}

TEST(Sense, BoxesBesideTheirPointsAreTold) {
  Annotations faces = good_faces();
  faces.faces[0].box = Box{400, 100, 100, 100};
  expect_one(faces, "f.csv:2", "does not hold the middle of its points");
}

TEST(Sense, AFaceThatIsThereTwiceIsTold) {
  Annotations faces = good_faces();
  faces.faces.push_back(faces.faces[3]);
  faces.faces.back().where = "f.csv:99";
  faces.faces.back().points(0, 0) += 0.25F;
  expect_one(faces, "f.csv:99", "the same face as f.csv:5");
  faces.faces.back().points.array() += 100;  // another one in the same picture
  faces.faces.back().box.reset();
  EXPECT_TRUE(findings(faces).empty());
}

TEST(Sense, TooFewPicturesAreToldWithHowManyAreNeeded) {
  Annotations faces = good_faces();
  require_enough(faces, 8);
  expect_error([&] { require_enough(faces, 9); }, "8 annotated pictures, expected at least 9");
  for (std::size_t i = 0; i < 6; ++i) faces.faces[i].points.col(2).setConstant(std::nanf(""));
  expect_error([&] { require_enough(faces, 4); },
               "point 2 is known in 2 of 8 pictures, expected at least 4");
}

}  // namespace
}  // namespace sdm::face
