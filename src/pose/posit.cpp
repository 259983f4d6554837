#include "sdm/pose/posit.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <vector>

#include "pose/check.h"

namespace sdm::pose {

Posit::Posit(const Points3& object) : Posit(object, Options()) {}

Posit::Posit(const Points3& object, const Options& options) : options_(options) {
  check_object(object);
  if (dimension(object) < 3)
    throw Error(
        "the object's points lie in one plane, expected points in space: POSIT has no "
        "unique answer for a plane");
  reference_ = options.reference == Reference::kCentroid ? Eigen::Vector3d(object.rowwise().mean())
                                                         : Eigen::Vector3d(object.col(0));
  vectors_ = object.colwise() - reference_;
  solution_ = (vectors_ * vectors_.transpose()).inverse() * vectors_;
}

Pose Posit::estimate(const Points2& image) const {
  check_sizes(vectors_, image);
  const Eigen::Index n = vectors_.cols();
  // The paper's perspective corrections 1 + epsilon_i; those of a small object stay on the stack.
  double few[32];
  std::vector<double> many;
  if (n > 32) many.resize(static_cast<std::size_t>(n));
  double* correction = n > 32 ? many.data() : few;
  std::fill(correction, correction + n, 1.0);

  // The columns of the pseudo-inverse sum to zero around the centroid, so that the image of the
  // reference needs no subtraction there.
  const bool centroid = options_.reference == Reference::kCentroid;
  Eigen::Vector2d origin = centroid ? Eigen::Vector2d::Zero() : Eigen::Vector2d(image.col(0));
  Eigen::Vector3d i_row = Eigen::Vector3d::UnitX(), j_row = Eigen::Vector3d::UnitY();
  double depth = 1;
  for (int iteration = 0; iteration < options_.iterations; ++iteration) {
    double a0 = 0, a1 = 0, a2 = 0, b0 = 0, b1 = 0, b2 = 0, sum_u = 0, sum_v = 0;
    const double* point = image.data();
    const double* column = solution_.data();
    for (Eigen::Index p = 0; p < n; ++p, point += 2, column += 3) {
      const double u = point[0] * correction[p], v = point[1] * correction[p];
      sum_u += u, sum_v += v;
      const double du = centroid ? u : u - origin.x(), dv = centroid ? v : v - origin.y();
      a0 += column[0] * du, a1 += column[1] * du, a2 += column[2] * du;
      b0 += column[0] * dv, b1 += column[1] * dv, b2 += column[2] * dv;
    }
    if (centroid) origin = Eigen::Vector2d(sum_u, sum_v) / static_cast<double>(n);
    const double a = std::sqrt(a0 * a0 + a1 * a1 + a2 * a2);
    const double b = std::sqrt(b0 * b0 + b1 * b1 + b2 * b2);
    depth = 2 / (a + b);
    i_row = Eigen::Vector3d(a0, a1, a2) / a;
    j_row = Eigen::Vector3d(b0, b1, b2) / b;
    const Eigen::Vector3d k_row = i_row.cross(j_row).normalized() / depth;
    double change = 0;
    const double* vector = vectors_.data();
    for (Eigen::Index p = 0; p < n; ++p, vector += 3) {
      const double next = 1 + vector[0] * k_row.x() + vector[1] * k_row.y() + vector[2] * k_row.z();
      change = std::max(change, std::abs(next - correction[p]));
      correction[p] = next;
    }
    if (change < options_.tolerance) break;
  }
  // The nearest orthonormal pair: the half-angle lines of i and j are orthogonal already.
  const Eigen::Vector3d plus = (i_row + j_row).normalized(), minus = (i_row - j_row).normalized();
  Eigen::Matrix3d q;
  q.row(0) = (plus + minus) * std::sqrt(0.5);
  q.row(1) = (plus - minus) * std::sqrt(0.5);
  q.row(2) = q.row(0).cross(q.row(1));
  Pose pose;
  pose.rotation = Rotation(q);
  pose.translation = Eigen::Vector3d(origin.x(), origin.y(), 1) * depth - q * reference_;
  return pose;
}

}  // namespace sdm::pose
