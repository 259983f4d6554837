// Landmarks of anything: learn where they are from annotated pictures, then find them.
//
// 1. Collect pictures, the true points, and the boxes that a detector drew around them.
// 2. Train: starting from the mean shape placed by the box, the program learns maps that lead from
//    what the picture looks like around the current points to where the points should go.
// 3. Align: a picture and a box give the points, in a fraction of a millisecond.
//
// To keep it short the pictures are drawn here: a bright leaf with a stem and a spot.
// On real faces `sdm train` does all this from files, and models/face68.sdm is ready to use:
//   const face::Model model = face::Model::load("models/face68.sdm");
#include <cmath>
#include <cstdio>
#include <random>

#include "sdm/face/aligner.h"
#include "sdm/face/train/trainer.h"

namespace {

using namespace sdm;

// Points: tip, left side, right side, foot, spot.
face::TrainingFace draw_leaf(std::mt19937& random) {
  const auto uniform = [&](float low, float high) {
    return low + (high - low) * static_cast<float>(random() >> 8) * 0x1p-24F;
  };
  const float length = uniform(30, 40), width = length * uniform(0.35F, 0.5F),
              angle = uniform(-0.2F, 0.2F), x0 = 60 + uniform(-8, 8), y0 = 60 + uniform(-8, 8);
  face::Shape leaf(2, 5);
  leaf << 0, -width, width, 0, uniform(-0.3F, 0.3F) * width,  //
      -length, 0, 0, length, uniform(-0.3F, 0.3F) * length;
  face::TrainingFace face;
  face.truth = leaf;
  face::Similarity{std::cos(angle), std::sin(angle), x0, y0}.to_image(leaf, face.truth);

  face.picture = image::Image<std::uint8_t>(120, 120);
  for (int y = 0; y < 120; ++y)
    for (int x = 0; x < 120; ++x) {
      const float dx = static_cast<float>(x) - x0, dy = static_cast<float>(y) - y0;
      const float u = (dx * std::cos(angle) + dy * std::sin(angle)) / width,
                  v = (dy * std::cos(angle) - dx * std::sin(angle)) / length;
      const bool inside = std::abs(u) < 1 - v * v;
      const float sx = static_cast<float>(x) - face.truth(0, 4),
                  sy = static_cast<float>(y) - face.truth(1, 4);
      const bool spot = sx * sx + sy * sy < 9;
      face.picture(x, y) =
          static_cast<std::uint8_t>((inside && !spot ? 200 : 60) + uniform(-10, 10));
    }
  const float side = 2.2F * length;
  face.boxes = {{x0 - side / 2 + uniform(-4, 4), y0 - side / 2 + uniform(-4, 4), side, side}};
  return face;
}

}  // namespace

int main() {
  std::mt19937 random(1);
  std::vector<face::TrainingFace> leaves;
  for (int i = 0; i < 200; ++i) leaves.push_back(draw_leaf(random));

  face::TrainerOptions options;
  options.recipe.unit = 30;
  options.recipe.stages = {{2, 8, true}, {2, 6, true}, {2, 5, false}};
  options.mirror = {0, 2, 1, 3, 4};  // left and right change places in a mirror
  options.starts = 3;
  options.penalties = {0.01};
  face::TrainerObserver observer;
  observer.stage = [](const face::FaceStage& at) {
    std::printf("stage %d: error %.4f -> %.4f\n", at.stage.stage + 1, at.stage.error_before,
                at.stage.error_after);
  };
  const face::Model model = face::train(leaves, {}, options, observer).model;

  face::Aligner aligner(model);  // one for each thread
  const face::TrainingFace leaf = draw_leaf(random);
  const face::Alignment& found = aligner.align(leaf.picture, leaf.boxes.front());
  float worst = 0;
  for (sdm::Index p = 0; p < 5; ++p) {
    std::printf("point %d: found (%.1f, %.1f), true (%.1f, %.1f)\n", static_cast<int>(p),
                found.points(0, p), found.points(1, p), leaf.truth(0, p), leaf.truth(1, p));
    worst = std::max(worst, (found.points.col(p) - leaf.truth.col(p)).norm());
  }
  std::printf("score %.2f\n", found.score);
  return worst < 4 ? 0 : 1;
}
