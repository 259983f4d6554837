#pragma once

#include "sdm/face/shape.h"

namespace sdm::face {

/// Where a face sits in a picture: the similarity p -> [a -b; b a] p + (x, y) from face coordinates
/// (the mean shape's: its centre at 0, its unit 1) to pixels.
struct Similarity {
  float a = 1, b = 0, x = 0, y = 0;

  friend bool operator==(const Similarity&, const Similarity&) = default;

  /// Pixels for one unit of the face.
  float scale() const;
  /// A difference of places in face coordinates as one in pixels.
  Eigen::Vector2f turned(const Eigen::Vector2f& face) const;
  void to_image(const Eigen::Ref<const Shape>& face, Eigen::Ref<Shape> out) const;
  void to_face(const Eigen::Ref<const Shape>& image, Eigen::Ref<Shape> out) const;
};

/// The similarity that brings `face` closest to `image` in the sense of least squares. Points that
/// are NaN in `image` do not count. Allocates nothing. With fewer than two different points the
/// scale is 0.
Similarity fit_similarity(const Eigen::Ref<const Shape>& face,
                          const Eigen::Ref<const Shape>& image);

}  // namespace sdm::face
