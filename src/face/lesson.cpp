#include "face/lesson.h"

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::face {

Lesson::Lesson(const Model& model)
    : model_(&model), walk_(model), truth_(model.mean), missing_(2 * model.points()) {}

void Lesson::require_face(image::ByteView grey, const Shape& truth) const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error(message);
  };
  require(!grey.empty(),
          formatted("the picture is {} x {}, expected some pixels", grey.width, grey.height));
  const Index points = model_->points();
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
  const Frame frame = fit_frame(model_->mean, truth);
  require(frame.scale() > 0, "the points all lie in one place, expected a face");
  Shape upright(2, points);
  frame.to_face(truth, upright);
  const double apart = mean_distance(model_->mean, upright);
  require(apart < 0.5,
          formatted("the points lie {:.2f} eye distances from the model's mean face, expected "
                    "less than 0.5: are they in another order?",
                    apart));
}

void Lesson::start(image::ByteView grey, const Shape& truth, int number, Noise& noise) {
  truth_ = truth;
  walk_.start(grey, number % 2 == 0
                        ? detected_frame(truth, model_->mean, model_->boxes.front(), noise)
                        : tracked_frame(truth, model_->mean, noise));
}

Eigen::Ref<const Vector<float>> Lesson::see(std::size_t stage) {
  const Eigen::Ref<const Vector<float>> seen = walk_.see(stage);
  Eigen::Map<Shape> missing(missing_.data(), 2, truth_.cols());
  walk_.frame().to_face(truth_, missing);
  missing -= walk_.shape();
  return seen;
}

double Lesson::error() const {
  return mean_distance(Shape::Zero(2, truth_.cols()),
                       Eigen::Map<const Shape>(missing_.data(), 2, truth_.cols()));
}

}  // namespace sdm::face
