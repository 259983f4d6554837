#include "sdm/face/visibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sdm/base/thread_pool.h"
#include "sdm/face/aligner.h"
#include "sdm/face/train/occluder.h"
#include "sdm/face/train/train_visibility.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

const Model& model_that_sees() {
  static const Model model = [] {
    TrainerOptions options = drawn_options();
    options.visibility = true;
    return train(drawn_faces(240, 1), {}, options).model;
  }();
  return model;
}

TEST(NearestPoints, BeginWithThePointAndAreMirrored) {
  const std::vector<int> nearest = nearest_points(drawn_mean(), drawn_mirror());
  ASSERT_EQ(nearest.size(), 9U * Visibility::kNear);
  const auto near = [&](int p) {
    const auto first = nearest.begin() + p * Visibility::kNear;
    return std::vector<int>(first, first + Visibility::kNear);
  };
  for (int p = 0; p < 9; ++p) {
    const std::vector<int> mine = near(p);
    EXPECT_EQ(mine.front(), p);
    EXPECT_EQ(std::set<int>(mine.begin(), mine.end()).size(), 0U + Visibility::kNear);
  }
  for (int k = 0; k < Visibility::kNear; ++k)
    EXPECT_EQ(near(6)[static_cast<std::size_t>(k)],
              drawn_mirror()[static_cast<std::size_t>(near(5)[static_cast<std::size_t>(k)])]);
  // The end of the left brow is nearest to the eye below it.
  EXPECT_EQ(near(7)[1], 1);
}

TEST(AnOccluder, PaintsWhatItCoversAndNothingElse) {
  const TrainingFace face = drawn_faces(1, 20).front();
  Random random(3, "occluder");
  for (int i = 0; i < 20; ++i) {
    const Occluder occluder = draw_occluder(face.truth, random);
    image::Image<std::uint8_t> picture = face.picture;
    paint(occluder, {}, random, picture);
    int changed = 0;
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x) {
        if (picture(x, y) == face.picture(x, y)) continue;
        ++changed;
        EXPECT_TRUE(occluder.covers(float(x), float(y)));
      }
    EXPECT_GT(changed, 10);
  }
}

TEST(TheVisibility, TellsCoveredPointsFromSeenOnes) {
  const auto faces = drawn_faces(80, 21);
  Aligner aligner(model_that_sees());
  std::vector<float> bare, covered;
  for (std::size_t i = 0; i < faces.size(); ++i)
    for (int trial = 0; trial < kVisibilityTrials; ++trial) {
      const CoveredFace face = covered_face(faces, model_that_sees(), i, trial, 5);
      const Alignment& fit = aligner.align_from(face.picture, face.start);
      ASSERT_EQ(fit.visible.size(), 9);
      for (Index p = 0; p < 9; ++p)
        (face.bare[static_cast<std::size_t>(p)] ? bare : covered).push_back(fit.visible[p]);
    }
  ASSERT_GT(covered.size(), 50U);
  double ahead = 0;
  for (const float seen : bare)
    for (const float hidden : covered) ahead += seen > hidden ? 1 : seen == hidden ? 0.5 : 0;
  EXPECT_GT(ahead / static_cast<double>(bare.size() * covered.size()), 0.9);
}

TEST(TheVisibility, MeansWhatItSays) {
  const auto faces = drawn_faces(80, 22);
  Aligner aligner(model_that_sees());
  double said = 0, are = 0, points = 0;
  for (std::size_t i = 0; i < faces.size(); ++i)
    for (int trial = 0; trial < kVisibilityTrials; ++trial) {
      const CoveredFace face = covered_face(faces, model_that_sees(), i, trial, 6);
      const Alignment& fit = aligner.align_from(face.picture, face.start);
      const float unit = fit_similarity(drawn_mean(), faces[i].truth).scale();
      for (Index p = 0; p < 9; ++p) {
        said += static_cast<double>(fit.visible[p]);
        are += face.bare[static_cast<std::size_t>(p)] &&
                       (fit.points.col(p) - faces[i].truth.col(p)).norm() < kRightPoint * unit
                   ? 1
                   : 0;
        ++points;
      }
    }
  EXPECT_NEAR(said / points, are / points, 0.04);
}

TEST(TheVisibility, IsTheSameAfterAFileAndForAnyNumberOfThreads) {
  const Model back = Model::from_model(model_that_sees().to_model());
  EXPECT_EQ(back.visibility.weights, model_that_sees().visibility.weights);
  EXPECT_EQ(back.visibility.bias, model_that_sees().visibility.bias);
  const auto faces = drawn_faces(60, 23);
  ThreadPool one(1), three(3);
  EXPECT_EQ(learn_visibility(back, faces, 1, one).weights,
            learn_visibility(back, faces, 1, three).weights);
}

TEST(TheVisibility, IsNotToldByAModelThatHasNotLearnedIt) {
  const TrainingFace face = drawn_faces(1, 24).front();
  Aligner aligner(drawn_training().model);
  EXPECT_EQ(aligner.align(face.picture, face.boxes.front()).visible.size(), 0);
}

}  // namespace
}  // namespace sdm::face
