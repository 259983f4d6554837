#include "sdm/face/data/boxes.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm::face {
namespace {

using io::expect_error;

TEST(Boxes, AreReadByTheDetectorsName) {
  const TemporaryFolder folder;
  const auto path = folder.write(
      "boxes.csv",
      "file,a_x,a_y,a_w,a_h,b_x,b_y,b_w,b_h\np.jpg,1,2,3,4,5,6,7,8\nq.jpg,,,,,1,1,2,2\n");
  EXPECT_EQ(read_boxes(path, "b").at("p.jpg")[0].x, 5);
  EXPECT_EQ(read_boxes(path, "a").at("p.jpg")[0].height, 4);
  EXPECT_TRUE(read_boxes(path, "a").at("q.jpg").empty());
  expect_error([&] { read_boxes(path, "c"); }, "no boxes of the detector 'c', there are: a, b");
  expect_error([&] { read_boxes(path); }, "there are: a, b");
}

TEST(Boxes, OfOneDetectorNeedNoName) {
  const TemporaryFolder folder;
  const auto path = folder.write("boxes.csv", "file,x,y,w,h\np.jpg,1,2,3,4\np.jpg,5,6,7,8\n");
  EXPECT_EQ(read_boxes(path).at("p.jpg").size(), 2u);
  EXPECT_EQ(read_boxes(path, "haar_alt2").at("p.jpg").size(), 2u);
}

TEST(Boxes, OfAllDetectorsAreReadAtOnce) {
  const TemporaryFolder folder;
  const auto path =
      folder.write("boxes.csv",
                   "file,a_x,a_y,a_w,a_h,haar_alt2_x,haar_alt2_y,haar_alt2_w,haar_alt2_h,note\n"
                   "p.jpg,1,2,3,4,5,6,7,8,good\nq.jpg,,,,,1,1,2,2,\n");
  const BoxTable table = read_box_table(path);
  EXPECT_THAT(table.detectors, testing::ElementsAre("a", "haar_alt2"));
  EXPECT_THAT(table.by_preference(), testing::ElementsAre("haar_alt2", "a"));
  for (const std::string& name : table.detectors)
    for (const auto& [file, boxes] : read_boxes(path, name)) {
      ASSERT_EQ(table.of(name).at(file).size(), boxes.size());
      for (std::size_t i = 0; i < boxes.size(); ++i)
        EXPECT_EQ(table.of(name).at(file)[i].x, boxes[i].x);
    }
  Annotations faces;
  faces.ids = {0};
  for (const char* file : {"p.jpg", "q.jpg", "r.jpg"})
    faces.faces.push_back({file, Shape::Zero(2, 1), {}});
  const auto boxes = boxes_of(faces, table, {"haar_alt2", "a"});
  EXPECT_EQ(boxes[0][0].x, 5);
  EXPECT_EQ(boxes[0][1].x, 1);
  EXPECT_EQ(boxes[1][0].width, 2);
  EXPECT_EQ(boxes[1][1].width, 0);
  EXPECT_EQ(boxes[2][0].width, 0);
  expect_error(
      [&] {
        boxes_of(faces, table, {"a", "c"});
      },
      "boxes.csv:1: no boxes of the detector");
}

TEST(Boxes, WithoutANameAreCalledBox) {
  const TemporaryFolder folder;
  const BoxTable table = read_box_table(folder.write("b.csv", "file,x,y,w,h\np.jpg,1,2,3,4\n"));
  EXPECT_THAT(table.by_preference(), testing::ElementsAre("box"));
  EXPECT_EQ(table.of("box").size(), 1u);
  const BoxTable named = read_box_table(folder.write("n.csv", "file,a_x,a_y,a_w,a_h\n"));
  EXPECT_THAT(named.by_preference(), testing::ElementsAre("a"));
  EXPECT_NO_THROW(named.of("box"));
}

TEST(Boxes, AreBesideTheAnnotations) {
  EXPECT_EQ(boxes_beside("some/folder/test.csv"), "some/folder/test_boxes.csv");
  EXPECT_EQ(boxes_beside("test.xml"), "test_boxes.csv");
}

TEST(Boxes, ComeBackAsWritten) {
  const TemporaryFolder folder;
  write_boxes(folder / "boxes.csv", {{"p.jpg", {{1.5F, 2, 3, 4}}}, {"none.jpg", {}}}, "mine");
  const Boxes read = read_boxes(folder / "boxes.csv", "mine");
  EXPECT_EQ(read.at("p.jpg")[0].x, 1.5F);
  EXPECT_TRUE(read.at("none.jpg").empty());
}

TEST(Boxes, AWrongLineIsNamed) {
  const TemporaryFolder folder;
  const auto fails = [&](const std::string& line, const std::string& why) {
    expect_error([&] { read_boxes(folder.write("b.csv", "file,x,y,w,h\n" + line)); }, why);
  };
  fails("p.jpg,1,2,3\n", "b.csv:2: 4 cells, expected 5");
  fails("p.jpg,1,2,,4\n", "b.csv:2: '', expected a number");
  fails("p.jpg,1,2,0,4\n", "b.csv:2: a box of 0 x 4 pixels");
  expect_error([&] { read_boxes(folder.write("c.csv", "p.jpg,1,2,3,4\n")); }, "c.csv:1: ");
  expect_error([&] { read_boxes(folder.write("c.csv", "file,x,y,h,w\n")); }, "c.csv:1: column 4");
}

TEST(Boxes, EachFaceTakesTheOneThatCoversIt) {
  Annotations faces;
  faces.ids = {0, 1};
  Shape points(2, 2);
  points << 10, 20, 10, 20;
  faces.faces = {{"p.jpg", points, {}}, {"p.jpg", points.array() + 100, {}}, {"q.jpg", points, {}}};
  give_boxes(faces, {{"p.jpg", {{95, 95, 40, 40}, {5, 5, 40, 40}, {0, 0, 200, 200}}}});
  EXPECT_EQ(faces.faces[0].box->x, 5);
  EXPECT_EQ(faces.faces[1].box->x, 95);
  EXPECT_FALSE(faces.faces[2].box);
}

TEST(Boxes, AFaceWithoutOneLosesTheOneItHad) {
  Annotations faces;
  faces.ids = {0, 1};
  faces.faces = {{"p.jpg", Shape::Zero(2, 2), Box{1, 2, 3, 4}},
                 {"q.jpg", Shape::Zero(2, 2), Box{1, 2, 3, 4}}};
  give_boxes(faces, {{"p.jpg", {}}});  // nothing was found in p.jpg, and q.jpg is not named
  EXPECT_FALSE(faces.faces[0].box);
  EXPECT_FALSE(faces.faces[1].box);
}

Shape square() {
  Shape mean(2, 4);
  mean << -1, 1, 1, -1, -1, -1, 1, 1;
  return mean / 2;
}

TEST(Boxes, WithoutNoiseThePerturbedBoxIsTheConventions) {
  BoxConvention convention;
  convention.sigma_x = convention.sigma_y = convention.sigma_log_scale = 0;
  Shape points = 80 * square();
  points.colwise() += Eigen::Vector2f(300, 200);
  const Box box = perturbed_box(points, square(), convention, 1);
  // The convention's own reading of that box is where the points are.
  const Similarity frame = convention.similarity(box);
  EXPECT_NEAR(frame.scale(), 80, 1e-3);
  EXPECT_NEAR(frame.x, 300, 1e-3);
  EXPECT_NEAR(frame.y, 200, 1e-3);
}

TEST(Boxes, PerturbationsHaveTheConventionsDeviations) {
  BoxConvention convention;
  convention.sigma_x = 0.05F;
  convention.sigma_y = 0.1F;
  convention.sigma_log_scale = 0.08F;
  const int draws = 4000;
  Eigen::Array3d sum = Eigen::Array3d::Zero(), squares = Eigen::Array3d::Zero();
  for (int i = 0; i < draws; ++i) {
    const Similarity frame =
        convention.similarity(perturbed_box(80 * square(), square(), convention, std::uint64_t(i)));
    const Eigen::Array3d value(frame.x / 80, frame.y / 80, std::log(frame.scale() / 80));
    sum += value;
    squares += value.square();
  }
  const Eigen::Array3d deviation = (squares / draws - (sum / draws).square()).sqrt();
  // Five standard errors of a deviation.
  EXPECT_NEAR(deviation[0], 0.05, 0.05 * 5 / std::sqrt(2.0 * draws));
  EXPECT_NEAR(deviation[1], 0.1, 0.1 * 5 / std::sqrt(2.0 * draws));
  EXPECT_NEAR(deviation[2], 0.08, 0.08 * 5 / std::sqrt(2.0 * draws));
  const Box a = perturbed_box(80 * square(), square(), convention, 7);
  const Box b = perturbed_box(80 * square(), square(), convention, 7);
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.width, b.width);
}

TEST(Boxes, APerturbedBoxNeedsPoints) {
  const Shape unknown = Shape::Constant(2, 4, std::nanf(""));
  expect_error([&] { perturbed_box(unknown, square(), {}, 1); }, "fewer than two");
  expect_error([&] { perturbed_box(Shape(2, 3), square(), {}, 1); }, "3 points, expected 4");
}

}  // namespace
}  // namespace sdm::face
