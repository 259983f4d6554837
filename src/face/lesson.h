#pragma once

#include "face/starts.h"
#include "face/walk.h"

namespace sdm::face {

/// A walk in a picture whose truth is known: at each stage, what it sees and what it should do.
class Lesson {
 public:
  /// The model must outlive it.
  explicit Lesson(const Model& model);

  /// Throws Error naming what is wrong with a picture and its points.
  void require_face(image::ByteView grey, const Shape& truth) const;

  /// Even numbers start as a detector would, odd ones as a tracker.
  void start(image::ByteView grey, const Shape& truth, int number, Noise& noise);
  /// As Walk's; from here `missing` and `error` are of this stage.
  Eigen::Ref<const Vector<float>> see(std::size_t stage);
  /// What would bring the shape to the truth; NaN where that is not known.
  const Vector<float>& missing() const { return missing_; }
  /// Mean distance of the known points in units.
  double error() const;
  void move(const Vector<float>& delta) { walk_.move(delta); }

 private:
  const Model* model_;
  Walk walk_;
  Shape truth_;
  Vector<float> missing_;
};

}  // namespace sdm::face
