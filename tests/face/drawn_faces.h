#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "sdm/face/similarity.h"
#include "sdm/face/train/trainer.h"

namespace sdm::face {

/// Nine points of a drawn face: eye corners, nose, mouth corners, brows, chin.
inline Shape drawn_mean() {
  Shape mean(2, 9);
  mean << -0.5F, -0.2F, 0.2F, 0.5F, 0.0F, -0.3F, 0.3F, -0.35F, 0.35F,  //
      -0.3F, -0.3F, -0.3F, -0.3F, 0.1F, 0.45F, 0.45F, -0.55F, -0.55F;
  return mean;
}

inline std::vector<int> drawn_mirror() { return {3, 2, 1, 0, 4, 6, 5, 8, 7}; }

/// Soft dark spots, one size for each pair of points, on a background with some noise.
inline image::Image<std::uint8_t> draw(const Shape& points, float unit, int width, int height,
                                       std::mt19937& random) {
  constexpr float sizes[9] = {0.07F, 0.05F, 0.05F, 0.07F, 0.1F, 0.08F, 0.08F, 0.12F, 0.12F};
  image::Image<std::uint8_t> picture(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float grey = 190 + static_cast<float>(random() % 17);
      for (Index p = 0; p < points.cols(); ++p) {
        const float size = sizes[p] * unit;
        const float dx = static_cast<float>(x) - points(0, p),
                    dy = static_cast<float>(y) - points(1, p);
        grey -= 130 * std::exp(-(dx * dx + dy * dy) / (2 * size * size));
      }
      picture(x, y) = static_cast<std::uint8_t>(std::clamp(grey, 0.0F, 255.0F));
    }
  return picture;
}

/// Faces of many sizes, turns and expressions, with boxes of one detector: 1.9 units wide, centred
/// (0.04, -0.1) units off the face, give or take.
inline std::vector<TrainingFace> drawn_faces(int count, unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&](float low, float high) {
    return low + (high - low) * static_cast<float>(random() >> 8) * 0x1p-24F;
  };
  std::vector<TrainingFace> faces;
  for (int i = 0; i < count; ++i) {
    const float unit = uniform(30, 60), angle = uniform(-0.3F, 0.3F);
    const Similarity frame{unit * std::cos(angle), unit * std::sin(angle), 80 + uniform(-5, 5),
                           80 + uniform(-5, 5)};
    Shape shape = drawn_mean();
    for (Index p = 0; p < shape.cols(); ++p) {
      shape(0, p) += uniform(-0.04F, 0.04F);
      shape(1, p) += uniform(-0.04F, 0.04F);
    }
    shape.row(1).rightCols(2).array() += uniform(-0.08F, 0.08F);  // brows go up together
    TrainingFace face;
    face.truth = shape;
    frame.to_image(shape, face.truth);
    face.picture = draw(face.truth, unit, 160, 160, random);
    const float width = 1.9F * unit * std::exp(uniform(-0.1F, 0.1F));
    const float x = frame.x + unit * (0.04F + uniform(-0.08F, 0.08F)),
                y = frame.y + unit * (-0.1F + uniform(-0.08F, 0.08F));
    face.boxes = {{x - 0.5F * (width - 1), y - 0.5F * (width - 1), width, width}};
    faces.push_back(std::move(face));
  }
  return faces;
}

inline TrainerOptions drawn_options() {
  TrainerOptions options;
  options.recipe.unit = 24;
  options.recipe.stages = {{2, 6, true}, {2, 5, true}, {3, 3, false}};
  options.mirror = drawn_mirror();
  options.unit = {0, 3};
  options.starts = 3;
  options.box_starts = 1;
  options.penalties = {0.01};
  return options;
}

/// A model of drawn faces, for whoever needs one.
inline const TrainedFace& drawn_training() {
  static const TrainedFace result = train(drawn_faces(160, 1), drawn_faces(40, 2), drawn_options());
  return result;
}

/// Mean point distance over the distance of the points 0 and 3.
inline double drawn_error(const Shape& points, const Shape& truth) {
  return static_cast<double>((points - truth).colwise().norm().mean() /
                             (truth.col(0) - truth.col(3)).norm());
}

}  // namespace sdm::face
