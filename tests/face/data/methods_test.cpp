#include "sdm/face/data/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sdm/base/error.h"
#include "sdm/face/data/evaluation.h"

namespace sdm::face {
namespace {

using Picture = image::Image<std::uint8_t>;

// Two points a face, in pictures of 100 x 100; the first face has no box.
Annotations two_points(int faces) {
  Annotations truth;
  truth.ids = {0, 1};
  for (int i = 0; i < faces; ++i) {
    Shape points(2, 2);
    points << 30, 70, float(40 + i), float(40 + i);
    truth.faces.push_back({"face" + std::to_string(i), points, std::nullopt});
    if (i > 0) truth.faces.back().box = Box{20, 20, 60, 60};
  }
  return truth;
}

Picture read_blank(const std::filesystem::path& path) {
  if (path == "bad") throw Error("bad: not a picture");
  return Picture(100, 100);
}

Method at_corners_of_box() {
  Method method;
  method.name = "corners";
  method.predictions.ids = {0, 1};
  method.find = [](image::ByteView, const Box& box) {
    Shape points(2, 2);
    points << box.x, box.x + box.width, box.y, box.y;
    return points;
  };
  return method;
}

TEST(Methods, StartFromTheFacesBoxesUnlessTheyHaveTheirOwn) {
  Annotations truth = two_points(3);
  std::vector<Method> methods(2, at_corners_of_box());
  methods[1].boxes = {Box{1, 2, 3, 4}, std::nullopt, Box{5, 6, 7, 8}};
  run_methods(truth, methods, read_blank, {});
  const auto& shared = methods[0].predictions.faces;
  const auto& own = methods[1].predictions.faces;
  EXPECT_EQ(shared[0].points.cols(), 0) << "no box, no answer";
  EXPECT_EQ(shared[1].points(0, 1), 80);
  EXPECT_EQ(own[0].points(0, 1), 4);
  EXPECT_EQ(own[1].points.cols(), 0);
  EXPECT_EQ(own[2].points(0, 1), 12);
}

TEST(Methods, AreTimedByTheClockGivenOnceAFaceAfterAFirstCall) {
  Annotations truth = two_points(4);
  double now = 0;
  int calls = 0;
  std::vector<Method> methods{at_corners_of_box()};
  methods[0].find = [&, find = methods[0].find](image::ByteView grey, const Box& box) {
    now += ++calls;  // the first call, which warms up, takes 1 s and the next ones 2, 3 and 4
    return find(grey, box);
  };
  MethodRunOptions options;
  options.clock = [&] { return now; };
  run_methods(truth, methods, read_blank, options);
  EXPECT_THAT(methods[0].seconds, testing::ElementsAre(2, 3, 4));
  EXPECT_EQ(methods[0].microseconds(), 3e6);
}

TEST(Methods, SearchThePictureForTheBoxThatHoldsTheFace) {
  Annotations truth = two_points(2);
  std::vector<Method> methods{at_corners_of_box()};
  MethodRunOptions options;
  options.make_detector = [] {
    return [](image::ByteView) { return std::vector<Box>{{0, 0, 10, 10}, {25, 25, 50, 50}}; };
  };
  run_methods(truth, methods, read_blank, options);
  for (const Annotation& face : truth.faces) EXPECT_EQ(face.box->x, 25) << face.file;
}

TEST(Methods, AnswerNothingWhereThePictureCannotBeReadAndTellIt) {
  Annotations truth = two_points(3);
  truth.faces[1].file = "bad";
  std::vector<Method> methods{at_corners_of_box()};
  const MethodRun run = run_methods(truth, methods, read_blank, {});
  EXPECT_THAT(run.unreadable, testing::ElementsAre("bad: not a picture"));
  EXPECT_EQ(methods[0].predictions.faces[1].points.cols(), 0);
  EXPECT_EQ(methods[0].predictions.faces[2].points.cols(), 2);
}

TEST(Methods, MadeElsewhereAreBroughtIntoTheOrderOfTheTruth) {
  const Annotations truth = two_points(3);
  Annotations predictions = truth;
  std::reverse(predictions.faces.begin(), predictions.faces.end());
  const Method method = predicted_method("elsewhere", truth, predictions);
  for (std::size_t i = 0; i < truth.faces.size(); ++i)
    EXPECT_EQ(method.predictions.faces[i].points, truth.faces[i].points);
  EXPECT_TRUE(std::isnan(method.microseconds()));
}

TEST(Evaluation, SortsTheWorstFacesFirst) {
  Evaluation result;
  result.errors = {0.1, 0.4, 0.2, 0.4};
  EXPECT_THAT(worst_first(result, 3), testing::ElementsAre(1, 3, 2));
  EXPECT_THAT(worst_first(result, 9), testing::ElementsAre(1, 3, 2, 0));
}

}  // namespace
}  // namespace sdm::face
