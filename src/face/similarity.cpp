#include "sdm/face/similarity.h"

#include <cmath>

namespace sdm::face {

float Similarity::scale() const { return std::hypot(a, b); }

void Similarity::to_image(const Eigen::Ref<const Shape>& face, Eigen::Ref<Shape> out) const {
  for (Eigen::Index i = 0; i < face.cols(); ++i) {
    const float u = face(0, i), v = face(1, i);
    out(0, i) = a * u - b * v + x;
    out(1, i) = b * u + a * v + y;
  }
}

void Similarity::to_face(const Eigen::Ref<const Shape>& image, Eigen::Ref<Shape> out) const {
  const float norm = 1 / (a * a + b * b);
  for (Eigen::Index i = 0; i < image.cols(); ++i) {
    const float u = image(0, i) - x, v = image(1, i) - y;
    out(0, i) = (a * u + b * v) * norm;
    out(1, i) = (a * v - b * u) * norm;
  }
}

Similarity fit_similarity(const Eigen::Ref<const Shape>& face,
                          const Eigen::Ref<const Shape>& image) {
  const auto known = [&](Eigen::Index i) {
    return std::isfinite(image(0, i)) && std::isfinite(image(1, i));
  };
  Eigen::Vector2d from(0, 0), to(0, 0);
  double count = 0;
  for (Eigen::Index i = 0; i < image.cols(); ++i) {
    if (!known(i)) continue;
    from += face.col(i).cast<double>();
    to += image.col(i).cast<double>();
    ++count;
  }
  if (count > 0) from /= count, to /= count;
  double dot = 0, cross = 0, square = 0;
  for (Eigen::Index i = 0; i < image.cols(); ++i) {
    if (!known(i)) continue;
    const Eigen::Vector2d p = face.col(i).cast<double>() - from,
                          q = image.col(i).cast<double>() - to;
    dot += p.dot(q);
    cross += p.x() * q.y() - p.y() * q.x();
    square += p.squaredNorm();
  }
  const double a = square > 0 ? dot / square : 0, b = square > 0 ? cross / square : 0;
  return {static_cast<float>(a), static_cast<float>(b),
          static_cast<float>(to.x() - (a * from.x() - b * from.y())),
          static_cast<float>(to.y() - (b * from.x() + a * from.y()))};
}

Eigen::Vector2f Similarity::turned(const Eigen::Vector2f& face) const {
  return {a * face.x() - b * face.y(), b * face.x() + a * face.y()};
}

}  // namespace sdm::face
