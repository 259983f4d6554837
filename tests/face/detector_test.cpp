#include "sdm/face/detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sdm/face/tracker.h"
#include "sdm/face/train/train_detector.h"
#include "sdm/image/resample.h"
#include "sdm/image/warp.h"
#include "tests/face/drawn_faces.h"
#include "tests/face/why.h"
#include "tests/image/pictures.h"

namespace sdm::face {
namespace {

using Picture = image::Image<std::uint8_t>;

// Spots and stripes on a grey ground, none of them a face.
Picture furniture(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  Picture picture(width, height);
  const float a = 0.1F + 0.01F * static_cast<float>(random() % 10),
              b = 0.05F + 0.01F * static_cast<float>(random() % 10);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      picture(x, y) = static_cast<std::uint8_t>(
          130 + 40 * std::sin(a * static_cast<float>(x)) * std::cos(b * static_cast<float>(y)) +
          static_cast<float>(random() % 17));
  return picture;
}

struct Trained {
  Model model;
  TrainedDetector detector;
};

const Trained& trained() {
  static const Trained both = [] {
    const auto faces = drawn_faces(300, 1);
    std::vector<Background> backgrounds;
    for (unsigned i = 0; i < 20; ++i) backgrounds.push_back({furniture(200, 160, i), {}});
    DetectorTrainerOptions options;
    options.mirror = drawn_mirror();
    options.unit = {0, 3};
    options.leans = {25};
    options.lean = 13;
    options.rounds = 2;
    return Trained{train(faces, {}, drawn_options()).model,
                   train_detector(faces, backgrounds, options)};
  }();
  return both;
}

struct Placed {
  Shape points;
  Similarity place;
};

// A face drawn into a picture.
Placed put_face(Picture& picture, float x, float y, float unit, float roll) {
  Placed placed;
  placed.place = {unit * std::cos(roll), unit * std::sin(roll), x, y};
  placed.points = drawn_mean();
  placed.place.to_image(drawn_mean(), placed.points);
  std::mt19937 random(5);
  const Picture drawn = draw(placed.points, unit, picture.width(), picture.height(), random);
  for (int v = 0; v < picture.height(); ++v)
    for (int u = 0; u < picture.width(); ++u)
      if (std::hypot(static_cast<float>(u) - x, static_cast<float>(v) - y) < 1.3F * unit)
        picture(u, v) = drawn(u, v);
  return placed;
}

// A window is 1.25 units large.
TEST(ADetector, FindsFacesOfManySizesAndRolls) {
  DetectorOptions options;
  options.smallest = 30;
  Detector detector(trained().detector.model, trained().model, options);
  int found = 0, tried = 0;
  for (const float unit : {24.0F, 31.0F, 45.0F, 70.0F})
    for (const float roll : {-0.5F, 0.0F, 0.25F, 0.5F}) {
      Picture picture = furniture(320, 240, 40);
      const Placed face = put_face(picture, 170, 115, unit, roll);
      const auto faces = detector.detect(picture);
      ++tried;
      if (faces.size() != 1) continue;
      const double off = mean_distance(faces[0].points, face.points);
      found += off < 0.1 * static_cast<double>(unit);
      EXPECT_NEAR(faces[0].roll, roll, 0.15) << unit;
      EXPECT_NEAR(faces[0].box.x + 0.5F * faces[0].box.width, face.place.x, 0.3F * unit);
    }
  EXPECT_GE(found, tried - 1);
}

TEST(ADetector, GivesTheLargestFaceFirstAndNoneTwice) {
  Picture picture = furniture(420, 260, 41);
  put_face(picture, 90, 120, 30, 0);
  put_face(picture, 300, 130, 55, 0.1F);
  Detector detector(trained().detector.model, trained().model);
  const auto faces = detector.detect(picture);
  ASSERT_EQ(faces.size(), 2U);
  EXPECT_GT(faces[0].box.width, faces[1].box.width);
  EXPECT_NEAR(faces[0].place.x, 300, 10);
  EXPECT_NEAR(faces[1].place.x, 90, 10);
}

// Poor fits wander, and a better one may end where another face already is.
TEST(ADetector, GivesNoFaceTwiceHoweverPoorItsFit) {
  DetectorOptions options;
  options.smallest = 20;
  options.min_score = 0;
  options.threshold = -20;
  options.candidates = 300;
  DetectorModel open = trained().detector.model;
  open.gate_threshold = -1e3F;
  Detector detector(open, trained().model, options);
  for (unsigned seed = 0; seed < 8; ++seed) {
    Picture picture = furniture(240, 180, 100 + seed);
    put_face(picture, 90, 90, 30, 0);
    const auto faces = detector.detect(picture);
    EXPECT_GT(faces.size(), 1U);
    for (std::size_t i = 0; i < faces.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        EXPECT_FALSE(same_face(faces[i].place, faces[k].place)) << seed << " " << i << " " << k;
  }
}

TEST(ADetector, FindsNothingWhereThereIsNothing) {
  Detector detector(trained().detector.model, trained().model);
  for (unsigned seed = 60; seed < 70; ++seed)
    EXPECT_TRUE(detector.detect(furniture(320, 240, seed)).empty()) << seed;
  EXPECT_TRUE(detector.detect(Picture(320, 240, 128)).empty());
}

TEST(ADetector, GivesTheSameForTheSamePictureWhateverCameBefore) {
  Picture picture = furniture(320, 240, 42);
  put_face(picture, 160, 120, 40, 0.1F);
  Detector fresh(trained().detector.model, trained().model),
      used(trained().detector.model, trained().model);
  used.detect(furniture(640, 480, 43));
  used.detect(picture);
  const auto a = fresh.detect(picture), b = used.detect(picture);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].points, b[i].points);
}

TEST(ADetector, LooksOnlyInItsRegion) {
  Picture picture = furniture(420, 260, 44);
  put_face(picture, 90, 120, 30, 0);
  const Placed right = put_face(picture, 300, 130, 40, 0);
  DetectorOptions options;
  options.region = {200, 30, 200, 200};
  Detector detector(trained().detector.model, trained().model, options);
  const auto faces = detector.detect(picture);
  ASSERT_EQ(faces.size(), 1U);
  EXPECT_LT(mean_distance(faces[0].points, right.points), 4);
  options.region = {1000, 1000, 10, 10};
  detector.set_options(options);
  EXPECT_THAT(why([&] { detector.detect(picture); }), testing::HasSubstr("the region"));
}

TEST(ADetector, LeavesOutFacesThatAreTooSmallOrTooLarge) {
  Picture picture = furniture(420, 260, 45);
  put_face(picture, 90, 120, 25, 0);
  put_face(picture, 300, 130, 60, 0);
  DetectorOptions options;
  options.smallest = 60;
  Detector detector(trained().detector.model, trained().model, options);
  auto faces = detector.detect(picture);
  ASSERT_EQ(faces.size(), 1U);
  EXPECT_NEAR(faces[0].place.x, 300, 10);
  options.smallest = 25;
  options.largest = 40;
  detector.set_options(options);
  faces = detector.detect(picture);
  ASSERT_EQ(faces.size(), 1U);
  EXPECT_NEAR(faces[0].place.x, 90, 10);
}

// Each of them where it is, to a fraction of a pixel: doubling the picture moves nothing.
TEST(ADetector, FindsASmallFaceInAPictureOfTwiceTheSize) {
  int found = 0, found_plain = 0, tried = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    Picture large = furniture(320, 240, 60 + seed);
    const Placed face = put_face(large, 150 + 5 * static_cast<float>(seed % 4), 118, 80, 0);
    Picture picture(80, 60);
    image::shrink(large, 4, picture);
    Shape points = (0.25F * (face.points.array() + 0.5F) - 0.5F).matrix();
    DetectorOptions options;
    options.smallest = 24;
    const auto finds = [&] {
      Detector detector(trained().detector.model, trained().model, options);
      const auto faces = detector.detect(picture);
      return std::any_of(faces.begin(), faces.end(), [&](const DetectedFace& one) {
        return mean_distance(one.points, points) < 0.1 * 20;
      });
    };
    found += finds();
    options.doubled = false;
    found_plain += finds();
    ++tried;
  }
  EXPECT_GE(found, tried - 1);
  EXPECT_GE(found, found_plain);
}

TEST(ADetector, LooksForSmallerFacesInSmallerPicturesUnlessTold) {
  DetectorOptions options;
  EXPECT_EQ(options.smallest_in(4000, 3000), 40);
  EXPECT_EQ(options.smallest_in(480, 640), 40);
  EXPECT_EQ(options.smallest_in(480, 320), 30);
  EXPECT_EQ(options.smallest_in(64, 64), 20);
  options.smallest = 33;
  EXPECT_EQ(options.smallest_in(64, 64), 33);
  Picture large = furniture(320, 240, 70);
  put_face(large, 160, 118, 88, 0);
  Picture picture(80, 60);
  image::shrink(large, 4, picture);  // the face's window has 27 px
  options.smallest.reset();
  Detector detector(trained().detector.model, trained().model, options);
  EXPECT_EQ(detector.detect(picture).size(), 1U);
  options.smallest = 40;
  detector.set_options(options);
  EXPECT_TRUE(detector.detect(picture).empty());
}

TEST(ADetector, GivesAtMostAsManyFacesAsAskedFor) {
  Picture picture = furniture(420, 260, 46);
  put_face(picture, 90, 120, 30, 0);
  put_face(picture, 300, 130, 40, 0);
  DetectorOptions options;
  options.most = 1;
  Detector detector(trained().detector.model, trained().model, options);
  EXPECT_EQ(detector.detect(picture).size(), 1U);
}

TEST(ADetector, WithoutVerificationGivesWindowsAndTheirOdds) {
  Picture picture = furniture(320, 240, 47);
  const Placed face = put_face(picture, 160, 120, 40, 0);
  Detector detector(trained().detector.model);
  const auto faces = detector.detect(picture);
  ASSERT_FALSE(faces.empty());
  EXPECT_EQ(faces[0].points.cols(), 0);
  EXPECT_TRUE(std::any_of(faces.begin(), faces.end(), [&](const DetectedFace& one) {
    return same_face(one.place, face.place) && one.score >= 0.5F;
  }));
}

TEST(ADetector, RefusesOptionsOutOfRangeByName) {
  const auto refusal = [](auto change) {
    DetectorOptions options;
    change(options);
    return why([&] { options.validate(); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal([](auto& o) { o.smallest = 0; }), HasSubstr("smallest"));
  EXPECT_THAT(refusal([](auto& o) { o.smallest = NAN; }), HasSubstr("smallest"));
  EXPECT_THAT(refusal([](auto& o) { o.largest = 10; }), HasSubstr("largest"));
  EXPECT_THAT(refusal([](auto& o) { o.min_score = 2; }), HasSubstr("score"));
  EXPECT_THAT(refusal([](auto& o) { o.threshold = NAN; }), HasSubstr("threshold"));
  EXPECT_THAT(refusal([](auto& o) { o.most = 0; }), HasSubstr("0 faces"));
  EXPECT_THAT(refusal([](auto& o) { o.max_side = 1; }), HasSubstr("side"));
  EXPECT_THAT(refusal([](auto& o) { o.region = {NAN, 0, 10, 10}; }), HasSubstr("region"));
  EXPECT_THAT(refusal([](auto& o) { o.region = {0, 0, HUGE_VALF, 10}; }), HasSubstr("region"));
  EXPECT_THAT(refusal([](auto& o) { o.region = {0, 0, 10, -1}; }), HasSubstr("region"));
}

TEST(ADetector, RefusesAnEmptyPictureAndTakesATinyOne) {
  Detector detector(trained().detector.model, trained().model);
  EXPECT_NE(why([&] { detector.detect(image::ByteView()); }), "nothing");
  for (const auto& [w, h] : {std::pair(1, 1), std::pair(3, 500), std::pair(500, 2)})
    EXPECT_TRUE(detector.detect(Picture(w, h, 90)).empty());
}

// What bounds the work: the longest side, and how many candidates are tried.
TEST(ADetector, SearchesAPictureOf100MegapixelsWithinBounds) {
  DetectorOptions options;
  options.threshold = -1000;  // everything is a candidate
  options.candidates = 20;
  Detector detector(trained().detector.model, trained().model, options);
  detector.detect(image::noise<std::uint8_t>(10000, 10000, 9));
  // 1,250 px a side: cells of 4 to 7 px, then halves.
  EXPECT_LT(detector.work().windows, 1'000'000);
  EXPECT_LE(detector.work().fits, 20);
}

TEST(ADetector, TriesABoundedNumberOfTenThousandCandidates) {
  DetectorOptions options;
  options.threshold = -1000;
  Detector detector(trained().detector.model, trained().model, options);
  const auto faces = detector.detect(image::noise<std::uint8_t>(640, 480, 9));
  EXPECT_GT(detector.work().windows, 10'000);
  EXPECT_LE(detector.work().candidates, options.candidates);
  EXPECT_LE(detector.work().fits, options.candidates);
  EXPECT_LE(faces.size(), std::size_t(options.most));
}

TEST(ATracker, FollowsWhatOurDetectorFinds) {
  Picture picture = furniture(320, 240, 48);
  const Placed face = put_face(picture, 160, 120, 40, 0.4F);
  Tracker tracker(trained().model, Detector(trained().detector.model, trained().model));
  const TrackedFrame first = tracker.update(picture, 0);
  ASSERT_EQ(first.faces.size(), 1U);
  EXPECT_TRUE(first.faces[0].detected);
  EXPECT_LT(mean_distance(first.faces[0].points, face.points), 4);
  const TrackedFrame second = tracker.update(picture, 0.04);
  ASSERT_EQ(second.faces.size(), 1U);
  EXPECT_EQ(second.faces[0].id, first.faces[0].id);
  EXPECT_FALSE(second.searched);
}

TEST(ADetector, AsBoxesSaysWhereItsFacesAre) {
  Picture picture = furniture(320, 240, 49);
  const Placed face = put_face(picture, 160, 120, 40, 0);
  const BoxConvention convention = trained().model.boxes.front();
  const BoxDetector boxes =
      box_detector(Detector(trained().detector.model, trained().model), convention);
  const auto found = boxes(picture);
  ASSERT_EQ(found.size(), 1U);
  const Similarity place = convention.similarity(found[0]);
  EXPECT_NEAR(place.x, face.place.x, 4);
  EXPECT_NEAR(place.scale(), 40, 4);
}

TEST(DetectorTraining, FindsTheShareOfHeldOutFacesThatItIsAskedFor) {
  EXPECT_GE(trained().detector.recall, 0.98);
  // Upright, turned and leaning to either side, and the gate.
  EXPECT_EQ(trained().detector.templates.size(), 6U);
  EXPECT_EQ(trained().detector.model.templates.size(), 5U);
  EXPECT_TRUE(trained().detector.model.has_gate());
}

TEST(DetectorTraining, GivesMirroredTemplatesForMirroredFaces) {
  const DetectorModel& model = trained().detector.model;
  const std::vector<int> mirror = image::mirror_permutation(model.columns, model.rows);
  const auto named = [&](const std::string& name) {
    return *std::find_if(model.templates.begin(), model.templates.end(),
                         [&](const DetectorTemplate& one) { return one.name == name; });
  };
  const DetectorTemplate left = named("leaning left"), right = named("leaning right");
  EXPECT_FLOAT_EQ(left.roll, -right.roll);
  for (std::size_t i = 0; i < mirror.size(); ++i)
    ASSERT_EQ(left.weights[i], right.weights[static_cast<std::size_t>(mirror[i])]);
}

TEST(DetectorTraining, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto faces = drawn_faces(60, 2);
  std::vector<Background> backgrounds;
  for (unsigned i = 0; i < 6; ++i) backgrounds.push_back({furniture(120, 100, i), {}});
  DetectorTrainerOptions options;
  options.mirror = drawn_mirror();
  options.unit = {0, 3};
  options.rounds = 1;
  options.leans = {25};
  options.threads = 1;
  const io::Model one = train_detector(faces, backgrounds, options).model.to_model();
  options.threads = 3;
  EXPECT_EQ(train_detector(faces, backgrounds, options).model.to_model(), one);
}

TEST(DetectorTraining, SaysWhatIsMissing) {
  const auto faces = drawn_faces(30, 2);
  EXPECT_THAT(why([&] { train_detector(faces, {}, {}); }), testing::HasSubstr("0 backgrounds"));
  EXPECT_THAT(why([&] { train_detector({}, {}, {}); }), testing::HasSubstr("0 faces"));
  DetectorTrainerOptions options;
  options.cells = 2;
  EXPECT_THAT(why([&] { train_detector(faces, {}, options); }), testing::HasSubstr("2 cells"));
}

// Every fifth is held out: there what is called a face is none, and a background shows one.
TEST(DetectorTraining, NamesATemplateThatMistakesWhatIsHeldOut) {
  auto faces = drawn_faces(60, 2);
  for (std::size_t i = 4; i < faces.size(); i += 5)
    faces[i].picture = furniture(faces[i].picture.width(), faces[i].picture.height(), 50);
  std::vector<Background> backgrounds;
  for (unsigned i = 0; i < 6; ++i) backgrounds.push_back({furniture(120, 100, i), {}});
  for (const float x : {30.0F, 90.0F})
    for (const float y : {25.0F, 75.0F}) put_face(backgrounds[4].picture, x, y, 18, 0);
  DetectorTrainerOptions options;
  options.mirror = drawn_mirror();
  options.unit = {0, 3};
  options.rounds = 1;
  EXPECT_THAT(why([&] { train_detector(faces, backgrounds, options); }),
              testing::HasSubstr("does not tell held-out objects from backgrounds"));
}

}  // namespace
}  // namespace sdm::face
