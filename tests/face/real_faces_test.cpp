// Real photographs: the shipped models against what others published or measured, and the trainer
// on a few hundred faces. Figures of peers and of the prototypes are those of
// ../shared/MEASURED.md.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <iostream>

#include "sdm/face/adapter.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/evaluation.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/data/roc.h"
#include "sdm/face/tracker.h"
#include "sdm/face/train/train_on_base.h"
#include "sdm/face/train/trainer.h"
#include "sdm/face/train/trial.h"
#include "sdm/opencv/image.h"

namespace sdm::face {
namespace {

namespace fs = std::filesystem;

const fs::path kFaces = fs::path(SDM_SHARED_DATA) / "faces";
const fs::path kModels = SDM_MODELS;

#define NEEDS_SHARED_DATA()                         \
  if (!fs::exists(kFaces)) {                        \
    std::cout << "skipped: needs ../shared/data\n"; \
    GTEST_SKIP() << "needs ../shared/data";         \
  }

struct Split {
  Annotations truth;
  std::vector<image::Image<std::uint8_t>> pictures;
};

// The first `count` faces with a box of Haar alt2.
Split read_split(const std::string& name, std::size_t count) {
  Split split{read_csv(kFaces / (name + ".csv")), {}};
  give_boxes(split.truth, read_boxes(kFaces / (name + "_boxes.csv"), "haar_alt2"));
  std::vector<Annotation>& faces = split.truth.faces;
  std::erase_if(faces, [](const Annotation& face) { return !face.box.has_value(); });
  faces.resize(std::min(count, faces.size()));
  for (const Annotation& face : faces)
    split.pictures.push_back(opencv::read_grey(split.truth.path(face)));
  return split;
}

Evaluation run(const Model& model, const Split& split, const std::vector<int>& ids = {},
               const std::string& detector = "haar_alt2") {
  Annotations found = split.truth;
  Aligner aligner(model);
  for (std::size_t i = 0; i < found.faces.size(); ++i)
    found.faces[i].points =
        aligner.align(split.pictures[i], *found.faces[i].box, model.convention(detector)).points;
  EvaluationOptions options;
  options.ids = ids;
  return evaluate(split.truth, found, options);
}

struct Shipped {
  const char* file;
  double largest_megabytes;
  /// Of lfpw_test, 68 points, over the distance of the outer eye corners, as its card says (a
  /// prototype of the recipe, written apart from this code and trained from Haar's boxes alone,
  /// reached 0.0323 and 0.0344). 0.0003 more is noise.
  double error;
};

// The name of the test in place of the bytes of a pointer.
void PrintTo(const Shipped& shipped, std::ostream* out) { *out << shipped.file; }

class AShippedModel : public testing::TestWithParam<Shipped> {};

TEST_P(AShippedModel, IsSmallAndSaysWhereItComesFrom) {
  const fs::path path = kModels / GetParam().file;
  const Model model = Model::load(path);
  EXPECT_EQ(model.points(), 68);
  EXPECT_EQ(model.convention().detector, "sdm");
  for (const char* other : {"haar_alt2", "haar_default", "dlib"})
    EXPECT_NO_THROW(model.convention(other));
  EXPECT_NE(model.licence.find("research"), std::string::npos) << model.licence;
  EXPECT_NE(model.provenance.find("sdm train"), std::string::npos) << model.provenance;
  EXPECT_LT(static_cast<double>(fs::file_size(path)), GetParam().largest_megabytes * 1e6);
}

TEST_P(AShippedModel, FindsTheFacesOfThePapersBenchmark) {
  NEEDS_SHARED_DATA();
  const Model model = Model::load(kModels / GetParam().file);
  const Split test = read_split("lfpw_test", 1000);
  const Evaluation all = run(model, test);
  EXPECT_LT(all.mean, GetParam().error + 0.0003);
  // dlib's trees, trained on the same faces: 3.93 % in the mean, 3.44 % of the faces beyond 8 %
  // (LFPW and HELEN test).
  EXPECT_LT(all.mean, 0.0393);
  EXPECT_LT(all.failure_rate, 0.0344);
  // Published for 49 points of the same faces: the authors' own software 5.11 %, PO-CR 3.35 %,
  // CLNF 2.92 %.
  EXPECT_LT(run(model, test, ibug(49).ids).mean, 0.0292);
}

TEST_P(AShippedModel, HasASmallAdaptationStateOfItsOwn) {
  const fs::path path = kModels / GetParam().file, state = Adaptation::beside(path);
  EXPECT_NO_THROW(Adapter(Model::load(path), Adaptation::load(state)));
  EXPECT_LT(static_cast<double>(fs::file_size(state)), 300e3);
}

TEST_P(AShippedModel, LearnsAFaceItErrsOn) {
  NEEDS_SHARED_DATA();
  const fs::path path = kModels / GetParam().file;
  const Model model = Model::load(path);
  const Adaptation state = Adaptation::load(Adaptation::beside(path));
  const Split dev = read_split("dev", 12);
  for (std::size_t i = 0; i < dev.pictures.size(); ++i) {
    Adapter adapter(model, state);
    adapter.update(dev.pictures[i], dev.truth.faces[i].points);
    // From a box such as a detector might draw, which the adapter has not seen.
    Split one{dev.truth, {dev.pictures[i]}};
    one.truth.faces = {dev.truth.faces[i]};
    one.truth.faces[0].box =
        perturbed_box(one.truth.faces[0].points, model.mean, model.convention(), 1000 + i);
    EXPECT_LT(run(adapter.model(), one, {}, "sdm").mean, run(model, one, {}, "sdm").mean)
        << dev.truth.faces[i].file;
  }
}

// Scores of fits that begin well and badly, on faces and beside them.
Roc roc_of(const Model& model, const Split& test) {
  Aligner aligner(model);
  std::vector<ScoredFit> fits;
  for (std::size_t i = 0; i < test.pictures.size(); ++i)
    for (const TrialKind kind : kTrialKinds) {
      const Shape& truth = test.truth.faces[i].points;
      const Trial trial = make_trial(kind, test.pictures[i], truth, model, 7, i);
      const Alignment& fit =
          aligner.align_from(trial.has_face() ? test.pictures[i] : trial.faceless, trial.start);
      fits.push_back({static_cast<double>(fit.score),
                      trial.has_face() && unit_error(fit.points, truth, model.mean) <
                                              static_cast<double>(kGoodFit)});
    }
  return roc(fits);
}

TEST_P(AShippedModel, TellsGoodFitsFromFailedOnesBetterThanItsLastStepDoes) {
  NEEDS_SHARED_DATA();
  const Model model = Model::load(kModels / GetParam().file);
  Model without = model;
  without.confidence = {};
  const Split test = read_split("lfpw_test", 60);
  const Roc learned = roc_of(model, test), step = roc_of(without, test);
  EXPECT_GT(learned.area, step.area);
  const auto mistaken = [](const Roc& curve) {
    return 1 - curve.at(0.5).true_positives + curve.at(0.5).false_alarms;
  };
  EXPECT_LT(mistaken(learned), mistaken(step));
}

TEST_P(AShippedModel, FollowsAFaceAsWellAsItDetectsIt) {
  NEEDS_SHARED_DATA();
  const Model model = Model::load(kModels / GetParam().file);
  const Split test = read_split("lfpw_test", 40);
  Aligner aligner(model);
  double followed = 0, detected = 0;
  for (std::size_t i = 0; i < test.pictures.size(); ++i) {
    const image::ByteView all = test.pictures[i];
    const int margin = all.width / 12;
    int searches = 0;
    Box box;
    TrackerOptions options;
    options.smooth = false;
    Tracker tracker(
        model,
        [&](image::ByteView) {
          ++searches;
          return std::vector{box};
        },
        options);
    for (int t = 0; t < 12; ++t) {
      // A window that wanders over the photograph.
      const int x = static_cast<int>(margin * (1 + std::sin(0.5 * t))),
                y = static_cast<int>(margin * (1 + std::cos(0.4 * t)));
      const image::ByteView seen = all.crop(x, y, all.width - 2 * margin, all.height - 2 * margin);
      Shape truth = test.truth.faces[i].points;
      truth.colwise() -= Eigen::Vector2f(static_cast<float>(x), static_cast<float>(y));
      box =
          perturbed_box(truth, model.mean, model.convention(), 100 * i + static_cast<unsigned>(t));
      const TrackedFrame& frame = tracker.update(seen, 0.04 * t);
      if (t == 0 && frame.faces.empty()) break;  // the first fit failed, and it says so
      ASSERT_EQ(frame.faces.size(), 1U) << i << " " << t;
      ASSERT_TRUE(frame.faces[0].pose.has_value());
      EXPECT_EQ(frame.faces[0].id, 1);
      followed += unit_error(frame.faces[0].points, truth, model.mean);
      detected += unit_error(aligner.align(seen, box).points, truth, model.mean);
    }
    EXPECT_EQ(searches, 1) << i;
  }
  // On few faces the two differ by some percent to either side.
  EXPECT_LT(followed, 1.05 * detected);
}

INSTANTIATE_TEST_SUITE_P(Of68Points, AShippedModel,
                         testing::Values(Shipped{"face68.sdm", 8, 0.03205},
                                         Shipped{"face68-fast.sdm", 3, 0.03385}));

TEST(Training, OnThreeHundredFacesBeatsTheAuthorsSoftwareOnNewOnes) {
  NEEDS_SHARED_DATA();
  TrainerOptions options = TrainerOptions::preset("fast");
  options.recipe.unit = 32;
  options.recipe.stages = {{3, 7, true}, {3, 5, true}, {3, 4, false}};
  options.mirror = ibug(68).mirror;
  options.unit = {36, 45};
  options.starts = 3;
  options.penalties = {0.3};
  options.rank = 40;
  options.detectors = {"haar_alt2"};
  const Split train_split = read_split("train", 300), dev = read_split("dev", 60);
  std::vector<TrainingFace> faces;
  for (std::size_t i = 0; i < train_split.pictures.size(); ++i) {
    const Annotation& face = train_split.truth.faces[i];
    faces.push_back(trim(train_split.pictures[i], face.points, {*face.box}, options.recipe));
  }
  // Published for its 49 points, on the test faces of LFPW and HELEN.
  EXPECT_LT(run(train(faces, {}, options).model, dev, ibug(49).ids).mean, 0.0511);
}

TEST(TrainingOnTheShippedModel, LearnsThePapersPointsFromFewPictures) {
  NEEDS_SHARED_DATA();
  Split split{read_csv(kFaces / "lfpw_test_29.csv"), {}};
  const BoxTable table = read_box_table(kFaces / "lfpw_test_boxes.csv");
  BaseTrainerOptions options;
  options.detectors = table.by_preference();
  options.find_mirror = true;
  const auto boxes = boxes_of(split.truth, table, options.detectors);
  const auto base = std::make_shared<const Model>(Model::load(kModels / "face68.sdm"));
  Recipe recipe = base->recipe;
  recipe.unit = options.unit;
  std::vector<TrainingFace> training;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < split.truth.faces.size(); ++i) {
    const Annotation& face = split.truth.faces[i];
    split.pictures.push_back(opencv::read_grey(split.truth.path(face)));
    // A quarter is plenty: less than a plain linear map needs.
    if (i % 4 == 0)
      training.push_back(trim(split.pictures[i], face.points, boxes[i], recipe));
    else if (boxes[i][0].width > 0)
      others.push_back(i);
  }
  const Model model = train_on_base(training, base, options).model;
  EXPECT_EQ(model.mirror,
            (std::vector<int>{1,  0,  3,  2,  6,  7,  4,  5,  9,  8,  11, 10, 14, 15, 12,
                              13, 17, 16, 19, 18, 20, 21, 23, 22, 24, 25, 26, 27, 28}));
  Aligner aligner(model);
  const BoxConvention& convention = model.convention(options.detectors[0]);
  double sum = 0;
  for (const std::size_t i : others) {
    const Shape& truth = split.truth.faces[i].points;
    sum += mean_distance(aligner.align(split.pictures[i], boxes[i][0], convention).points, truth) /
           static_cast<double>((truth.col(16) - truth.col(17)).norm());
  }
  // A plain linear map of the 68 points, learned from 199 faces: ../shared/MEASURED.md.
  EXPECT_LT(sum / static_cast<double>(others.size()), 0.0358);
}

}  // namespace
}  // namespace sdm::face
