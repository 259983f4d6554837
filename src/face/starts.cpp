#include "face/starts.h"

#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

float normal(Random& random) { return static_cast<float>(random.normal()); }

}  // namespace

void check_labelled_face(const Model& model, image::ByteView grey, const Shape& truth) {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error(message);
  };
  require(!grey.empty(),
          formatted("the picture is {} x {}, expected some pixels", grey.width, grey.height));
  const Index points = model.points();
  require(truth.cols() == points, formatted("{} points, the model has {}", truth.cols(), points));
  Index known = 0, inside = 0;
  for (Index p = 0; p < points; ++p) {
    const auto at = truth.col(p);
    known += at.allFinite() ? 1 : 0;
    inside += at.x() >= -0.5F && at.y() >= -0.5F &&
                      at.x() <= static_cast<float>(grey.width) - 0.5F &&
                      at.y() <= static_cast<float>(grey.height) - 0.5F
                  ? 1
                  : 0;
  }
  require(2 * known >= points,
          formatted("{} of the {} points are known, expected at least half", known, points));
  require(2 * inside >= known,
          formatted("{} of the {} points lie inside the picture of {} x {} px, expected at least "
                    "half: are they of another picture?",
                    inside, known, grey.width, grey.height));
  const Similarity similarity = fit_similarity(model.mean, truth);
  require(similarity.scale() > 0, "the points all lie in one place, expected a face");
  Shape upright(2, points);
  similarity.to_face(truth, upright);
  const double apart = mean_distance(model.mean, upright);
  require(apart < 0.5,
          formatted("the points lie {:.2f} eye distances from the model's mean face, expected "
                    "less than 0.5: are they in another order?",
                    apart));
}

Similarity detected_start(const Shape& truth, const Shape& mean, const BoxConvention& convention,
                          Random& random) {
  const Similarity similarity = fit_similarity(mean, truth);
  const float unit = similarity.scale();
  const float x = normal(random), y = normal(random), s = normal(random);
  return {unit * std::exp(convention.sigma_log_scale * s), 0,
          similarity.x + unit * convention.sigma_x * x,
          similarity.y + unit * convention.sigma_y * y};
}

Similarity tracked_start(const Shape& truth, const Shape& mean, Random& random) {
  // The paper moves faces by 10 px, which are some 0.09 eye distances at its size, and 5 % of their
  // size.
  constexpr float kShift = 0.09F, kLogScale = 0.05F, kTurn = 0.05F;
  const Similarity similarity = fit_similarity(mean, truth);
  const float unit = similarity.scale();
  const float x = normal(random), y = normal(random), s = std::exp(kLogScale * normal(random)),
              t = kTurn * normal(random);
  const float c = s * std::cos(t), d = s * std::sin(t);
  return {similarity.a * c - similarity.b * d, similarity.b * c + similarity.a * d,
          similarity.x + kShift * unit * x, similarity.y + kShift * unit * y};
}

Similarity labelled_start(int number, const Shape& truth, const Model& model, Random& random) {
  return number % 2 == 0 ? detected_start(truth, model.mean, model.boxes.front(), random)
                         : tracked_start(truth, model.mean, random);
}

}  // namespace sdm::face
