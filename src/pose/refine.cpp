#include "sdm/pose/refine.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "pose/check.h"
#include "sdm/pose/projection.h"

namespace sdm::pose {
namespace {

using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

/// One weighted Gauss-Newton step. The rotation turns about the object's centre, which keeps
/// rotation and translation apart and the normal equations well conditioned.
Pose gauss_newton(const Points3& object, const Eigen::Vector3d& centre, const Points2& image,
                  const Eigen::VectorXd& weights, const Pose& pose) {
  Matrix6 h = Matrix6::Zero();
  Vector6 g = Vector6::Zero();
  const Eigen::Matrix3d q = pose.rotation.toRotationMatrix();
  const Eigen::Vector3d position = q * centre + pose.translation;
  for (Eigen::Index i = 0; i < object.cols(); ++i) {
    if (weights[i] == 0) continue;
    const Eigen::Vector3d arm = q * (object.col(i) - centre);
    const Eigen::Vector3d x = arm + position;
    if (!(x.z() > 0)) continue;
    const double u = x.x() / x.z(), v = x.y() / x.z();
    Eigen::Matrix<double, 2, 3> by_point;
    by_point << 1, 0, -u, 0, 1, -v;
    by_point /= x.z();
    Eigen::Matrix3d by_turn;  // d(arm)/d(delta) = -[arm]x
    by_turn << 0, arm.z(), -arm.y(), -arm.z(), 0, arm.x(), arm.y(), -arm.x(), 0;
    Eigen::Matrix<double, 2, 6> jacobian;
    jacobian << by_point * by_turn, by_point * position.z();
    const Eigen::Vector2d residual(u - image(0, i), v - image(1, i));
    h.noalias() += weights[i] * jacobian.transpose() * jacobian;
    g.noalias() += weights[i] * jacobian.transpose() * residual;
  }
  const Vector6 delta = -h.ldlt().solve(g);
  Pose next;
  next.rotation = step(pose.rotation, delta.head<3>());
  next.translation = position + position.z() * delta.tail<3>() - next.rotation * centre;
  return next;
}

Eigen::VectorXd squared_residuals(const Points3& object, const Camera& camera,
                                  const Points2& pixels, const Pose& pose) {
  return (project(object, pose, camera) - pixels).colwise().squaredNorm().transpose();
}

double moved(const Pose& from, const Pose& to) {
  return angle_between(from.rotation, to.rotation) +
         (to.translation - from.translation).norm() / to.translation.norm();
}

}  // namespace

void RefineOptions::validate() const {
  if (steps < 0) throw Error(formatted("{} refine steps, expected 0 or more", steps));
  if (!(outlier_pixels >= 0 && std::isfinite(outlier_pixels)))
    throw Error(formatted("outlier_pixels is {}, expected 0 or more", outlier_pixels));
}

Estimate refine(const Points3& object, const Camera& camera, const Points2& pixels,
                const Pose& start, const RefineOptions& options) {
  options.validate();
  check_image(object, pixels);
  const Points2 image = normalise(camera, pixels);
  const Eigen::Vector3d centre = object.rowwise().mean();
  Points2 used = pixels;  // what the final least squares sees: outliers become NaN here
  Pose pose = start;

  Eigen::VectorXd weights(object.cols());
  if (options.outlier_pixels > 0) {
    // Black and Rangarajan's weights for Geman-McClure, c^2 widened by mu (Yang et al., "Graduated
    // Non-Convexity", 2020).
    const double c2 = options.outlier_pixels * options.outlier_pixels;
    double mu = 0;
    for (int iteration = 0; iteration < 60; ++iteration) {
      const Eigen::VectorXd r2 = squared_residuals(object, camera, pixels, pose);
      if (iteration == 0)
        for (const double r : r2) mu = std::max(mu, 2 * r / c2);  // passes over NaN
      mu = std::max(mu, 1.0);
      for (Eigen::Index i = 0; i < weights.size(); ++i) {
        const double ratio = mu * c2 / (r2[i] + mu * c2);
        weights[i] = std::isnan(ratio) ? 0 : ratio * ratio;
      }
      const Pose next = gauss_newton(object, centre, image, weights, pose);
      const bool still = moved(pose, next) < 1e-9;
      pose = next;
      if (mu == 1 && still) break;
      mu /= 1.4;
    }
    const Eigen::VectorXd r2 = squared_residuals(object, camera, pixels, pose);
    Eigen::Index kept = 0;
    for (Eigen::Index i = 0; i < used.cols(); ++i) {
      if (r2[i] > c2) used.col(i).setConstant(std::numeric_limits<double>::quiet_NaN());
      kept += is_seen(used, i);
    }
    if (kept < least_points) return evaluate(object, camera, pixels, pose);
  }

  for (Eigen::Index i = 0; i < weights.size(); ++i) weights[i] = is_seen(used, i);
  Estimate best = evaluate(object, camera, used, pose);
  for (int s = 0; s < options.steps; ++s) {
    const Pose next = gauss_newton(object, centre, image, weights, pose);
    const Estimate candidate = evaluate(object, camera, used, next);
    if (candidate.reprojection_error < best.reprojection_error) best = candidate;
    if (!next.translation.allFinite() || moved(pose, next) < 1e-12) break;
    pose = next;
  }
  return best;
}

}  // namespace sdm::pose
