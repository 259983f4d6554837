#include "pose/scaled_orthography.h"

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "pose/check.h"

namespace sdm::pose {

ScaledView fit_view(const Points3& object, const Points2& points, const Eigen::VectorXd& weights) {
  using Matrix23 = Eigen::Matrix<double, 2, 3>;
  double total = 0;
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  Eigen::Vector2d middle = Eigen::Vector2d::Zero();
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    if (!is_seen(points, i)) continue;
    total += weights[i];
    centre += weights[i] * object.col(i);
    middle += weights[i] * points.col(i);
  }
  centre /= total;
  middle /= total;
  Eigen::Matrix3d object_moments = Eigen::Matrix3d::Zero();
  Matrix23 cross = Matrix23::Zero();
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    if (!is_seen(points, i)) continue;
    const Eigen::Vector3d a = object.col(i) - centre;
    const Eigen::Vector2d b = points.col(i) - middle;
    object_moments.noalias() += weights[i] * a * a.transpose();
    cross.noalias() += weights[i] * b * a.transpose();
  }

  // Start: the orthonormal rows nearest to the affine camera.
  const Matrix23 affine = cross * object_moments.inverse();
  // The polar factor: the root of a 2 x 2 matrix M is (M + det I) / trace, with those of the root.
  const Eigen::Matrix2d gram = affine * affine.transpose();
  const double det = std::sqrt(std::max(0.0, gram.determinant())),
               trace = std::sqrt(gram.trace() + 2 * det);
  ScaledView view;
  view.scale = trace / 2;
  if (!(view.scale > 0 && std::isfinite(view.scale))) return view;
  const Eigen::Matrix2d root = (gram + det * Eigen::Matrix2d::Identity()) / trace;
  view.rotation.topRows<2>() = root.inverse() * affine;
  view.rotation.row(2) = view.rotation.row(0).cross(view.rotation.row(1));

  // Gauss-Newton over a turn and the logarithm of the scale. The residual s a.xy - b is linear in
  // the turned points a, so that the normal equations need the moments of a and b alone.
  for (int step = 0; step < 30; ++step) {
    const double s = view.scale;
    const Eigen::Matrix3d p = view.rotation * object_moments * view.rotation.transpose();
    const Matrix23 k = cross * view.rotation.transpose();
    const double flat = p(0, 0) + p(1, 1);
    Eigen::Matrix4d h;
    h << p(2, 2), 0, -p(0, 2), -p(1, 2),  //
        0, p(2, 2), -p(1, 2), p(0, 2),    //
        -p(0, 2), -p(1, 2), flat, 0,      //
        -p(1, 2), p(0, 2), 0, flat;
    const Eigen::Vector4d g(k(1, 2) - s * p(1, 2), s * p(0, 2) - k(0, 2), k(0, 1) - k(1, 0),
                            s * flat - k(0, 0) - k(1, 1));
    const Eigen::Vector4d delta = -h.ldlt().solve(g) / s;
    const double angle = delta.head<3>().norm();
    if (!std::isfinite(angle)) break;
    if (angle > 0)
      view.rotation =
          Eigen::AngleAxisd(angle, delta.head<3>() / angle).toRotationMatrix() * view.rotation;
    view.scale *= std::exp(delta[3]);
    if (delta.norm() < 1e-10) break;
  }
  view.position = middle - view.scale * (view.rotation * centre).head<2>();
  return view;
}

}  // namespace sdm::pose
