#pragma once

#include <Eigen/Geometry>
#include <filesystem>
#include <opencv2/core.hpp>
#include <optional>
#include <vector>

#include "sdm/rigid/region.h"

namespace sdm::experiments {

/// The pose of ViSP's textured cube (mbt/cube). The package tells the camera, the model and the
/// pose of the first frame only; in each further frame the pose is fitted to the outline, which is
/// dark on a white desk: the place of the steepest rise along the normals of the six edges that
/// part the cube from the desk, Gauss-Newton with Tukey's weights. It does not look at the texture.
class CubePose {
 public:
  /// Reads cube.0.pos and cube.xml of the folder. Throws Error where they do not hold what they
  /// should.
  explicit CubePose(const std::filesystem::path& folder);

  /// Follows the outline to this frame. False where too little of it was found.
  bool update(const cv::Mat& grey);

  /// The faces that are seen from no more than 65 degrees off.
  std::vector<int> visible_faces() const;
  bool visible(int face) const;
  /// The inner part of a face: its corners are pulled towards its middle.
  rigid::Quad region(int face) const;

  /// Root mean square distance of the outline to its edges in the last frame, px, and the share of
  /// the outline that was found.
  double residual() const { return residual_; }
  double found() const { return found_; }

 private:
  struct Pose {
    Eigen::Matrix3d rotation;
    Eigen::Vector3d translation;
  };
  Eigen::Vector2d project(const Pose& pose, const Eigen::Vector3d& point) const;
  double facing(const Pose& pose, int face) const;

  double px_ = 0, py_ = 0, u0_ = 0, v0_ = 0;
  Pose pose_;
  double residual_ = 0, found_ = 0;
};

}  // namespace sdm::experiments
