#include <gtest/gtest.h>

#include <array>
#include <string>

#include "sdm/face/aligner.h"
#include "sdm/face/train/choose_options.h"
#include "sdm/face/train/train_detector.h"
#include "tests/descent/train/two_ranks.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

const std::array<std::string, 2> kBothEndWell{};

std::vector<TrainingFace> part_of(const std::vector<TrainingFace>& faces, int rank) {
  const auto middle = faces.begin() + static_cast<std::ptrdiff_t>(faces.size() / 3);
  return rank == 0 ? std::vector(faces.begin(), middle) : std::vector(middle, faces.end());
}

TEST(FaceRanks, TrainTheModelThatOneProcessTrains) {
  const std::vector<TrainingFace> faces = drawn_faces(90, 1), dev = drawn_faces(20, 2);
  TrainerOptions options = drawn_options();
  options.visibility = true;
  options.threads = 1;
  const TrainedFace alone = train(faces, dev, options);
  TrainedFace both[2];
  EXPECT_EQ(run_two_ranks([&](Communicator& world) {
              TrainerOptions together = options;
              together.communicator = &world;
              both[world.rank()] =
                  train(part_of(faces, world.rank()),
                        world.rank() == 0 ? dev : std::vector<TrainingFace>(), together);
            }),
            kBothEndWell);
  const TrainedFace& root = both[0];
  EXPECT_EQ(root.model.mean, alone.model.mean);
  EXPECT_EQ(root.model.boxes.front().scale, alone.model.boxes.front().scale);
  EXPECT_EQ(root.summary.samples, alone.summary.samples);
  for (std::size_t k = 0; k < alone.stages.size(); ++k) {
    EXPECT_NEAR(root.stages[k].held_out_error, alone.stages[k].held_out_error, 1e-4);
    EXPECT_NEAR(root.stages[k].dev_error, alone.stages[k].dev_error, 1e-4);
  }
  EXPECT_NEAR(root.dev_error, alone.dev_error, 2e-4);
  EXPECT_NEAR(root.model.typical_step, alone.model.typical_step, 0.3F * alone.model.typical_step);
  ASSERT_EQ(root.model.confidence.known(), alone.model.confidence.known());
  Aligner one(alone.model), other(root.model);
  for (const TrainingFace& face : dev) {
    const Alignment expected = one.align(face.picture, face.boxes.front());
    const Alignment& found = other.align(face.picture, face.boxes.front());
    EXPECT_LT(drawn_error(found.points, expected.points), 2e-3);
    EXPECT_NEAR(found.score, expected.score, 0.02F);
  }
  // What the other rank holds is the same but for what only the root measures.
  EXPECT_EQ(both[1].model.confidence.weights, root.model.confidence.weights);
  EXPECT_EQ(both[1].model.visibility.weights, root.model.visibility.weights);
}

TEST(FaceRanks, ChooseWhatOneProcessChooses) {
  const std::vector<TrainingFace> faces = drawn_faces(60, 4);
  TrainerOptions given = drawn_options();
  given.threads = 1;
  ChoiceOptions choosing;
  choosing.seconds = 4;
  choosing.faces = 40;
  const Choice alone = choose_options(faces, given, choosing);
  ASSERT_GT(alone.tried.size(), 2U);
  std::string texts[2];
  EXPECT_EQ(run_two_ranks([&](Communicator& world) {
              TrainerOptions together = given;
              together.communicator = &world;
              const Choice choice =
                  choose_options(part_of(faces, world.rank()), together, choosing);
              texts[world.rank()] = choice.text;
              EXPECT_NEAR(choice.error, alone.error, 1e-3);
              EXPECT_NEAR(choice.tried.front().error, alone.tried.front().error, 1e-4);
            }),
            kBothEndWell);
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(FaceRanks, AFaceThatIsWrongEndsAllOfThem) {
  std::vector<TrainingFace> faces = drawn_faces(12, 1);
  faces.back().picture = {};
  const auto ended = run_two_ranks([&](Communicator& world) {
    TrainerOptions options = drawn_options();
    options.communicator = &world;
    train(part_of(faces, world.rank()), {}, options);
  });
  EXPECT_EQ(ended[0], "rank 1: face 7: it has no picture");
  EXPECT_EQ(ended[1], "face 7: it has no picture");
}

TEST(FaceRanks, TrainTheDetectorThatOneProcessTrains) {
  const std::vector<TrainingFace> faces = drawn_faces(60, 6);
  std::vector<Background> backgrounds;
  std::mt19937 random(3);
  for (int i = 0; i < 10; ++i) {
    Background& one = backgrounds.emplace_back();
    one.picture = image::Image<std::uint8_t>(160, 120);
    for (int y = 0; y < 120; ++y)
      for (int x = 0; x < 160; ++x)
        one.picture(x, y) =
            static_cast<std::uint8_t>(90 + (x * (i + 1) + y * 3) % 80 + random() % 20);
  }
  DetectorTrainerOptions options;
  options.mirror = drawn_mirror();
  options.leans = {25};
  options.rounds = 1;
  options.threads = 1;
  const TrainedDetector alone = train_detector(faces, backgrounds, options);
  TrainedDetector both[2];
  EXPECT_EQ(run_two_ranks([&](Communicator& world) {
              DetectorTrainerOptions together = options;
              together.communicator = &world;
              const auto middle = backgrounds.begin() + 4;
              both[world.rank()] =
                  train_detector(part_of(faces, world.rank()),
                                 world.rank() == 0 ? std::vector(backgrounds.begin(), middle)
                                                   : std::vector(middle, backgrounds.end()),
                                 together);
            }),
            kBothEndWell);
  ASSERT_EQ(both[0].templates.size(), alone.templates.size());
  for (std::size_t i = 0; i < alone.templates.size(); ++i)
    EXPECT_EQ(both[0].templates[i].faces, alone.templates[i].faces);
  EXPECT_NEAR(both[0].recall, alone.recall, 0.05);
  EXPECT_NEAR(both[0].model.threshold, alone.model.threshold, 0.3F);
  EXPECT_EQ(both[0].model.templates.front().weights, both[1].model.templates.front().weights);
}

}  // namespace
}  // namespace sdm::face
