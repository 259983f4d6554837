#pragma once

#include "sdm/pose/points.h"

namespace sdm::pose {

/// The image scale * (rotation X).xy + position of an object far from its camera.
struct ScaledView {
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  double scale = 0;
  Eigen::Vector2d position = Eigen::Vector2d::Zero();
};

/// The view closest to the points in weighted least squares; a NaN point has no weight. The scale
/// is 0 or not finite where the points do not tell a view.
ScaledView fit_view(const Points3& object, const Points2& points, const Eigen::VectorXd& weights);

}  // namespace sdm::pose
