#include "sdm/pose/posit.h"

#include <Eigen/LU>
#include <cmath>

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
  const Eigen::Index n = vectors_.cols();
  if (image.cols() != n)
    throw Error(fmt::format("{} image points for an object of {} points, expected one for each",
                            image.cols(), n));
  // The perspective corrections (1 + epsilon_i) of the paper; short objects stay on the stack.
  using Corrections = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 16, 1>;
  Corrections few;
  Eigen::VectorXd many;
  if (n <= 16)
    few = Corrections::Ones(n);
  else
    many = Eigen::VectorXd::Ones(n);
  double* correction = n <= 16 ? few.data() : many.data();

  const bool centroid = options_.reference == Reference::kCentroid;
  Eigen::Vector3d i_row = Eigen::Vector3d::UnitX(), j_row = Eigen::Vector3d::UnitY(), k_row;
  Eigen::Vector2d origin = image.col(0);
  double depth = 1;
  for (int iteration = 0; iteration < options_.iterations; ++iteration) {
    Eigen::Vector3d a = Eigen::Vector3d::Zero(), b = Eigen::Vector3d::Zero();
    Eigen::Vector2d sum = Eigen::Vector2d::Zero();
    for (Eigen::Index p = 0; p < n; ++p) {
      // The columns of the pseudo-inverse sum to zero around the centroid, so that the reference's
      // image needs no subtraction there.
      const double u =
          centroid ? image(0, p) * correction[p] : image(0, p) * correction[p] - image(0, 0);
      const double v =
          centroid ? image(1, p) * correction[p] : image(1, p) * correction[p] - image(1, 0);
      a += solution_.col(p) * u;
      b += solution_.col(p) * v;
      sum += Eigen::Vector2d(u, v);
    }
    if (centroid) origin = sum / static_cast<double>(n);
    const double scale_a = a.norm(), scale_b = b.norm();
    depth = 2 / (scale_a + scale_b);
    i_row = a / scale_a;
    j_row = b / scale_b;
    k_row = i_row.cross(j_row).normalized();
    double change = 0;
    for (Eigen::Index p = 0; p < n; ++p) {
      const double next = 1 + vectors_.col(p).dot(k_row) / depth;
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
