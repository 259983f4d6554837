#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sdm/pose/pose.h"

namespace sdm::experiments {

/// Another way to find a pose: `solve(points)` for one object and camera.
struct PosePeer {
  std::string name;
  std::function<pose::Pose(Eigen::Index image)> solve;
  bool slow = false;
};

/// OpenCV's solvePnP as ITERATIVE, EPnP and SQPnP, single-threaded, on images it has converted to
/// its own types beforehand; empty where OpenCV was not found.
std::vector<PosePeer> opencv_peers(const pose::Points3& object, const pose::Camera& camera,
                                   const std::vector<pose::Points2>& images);

}  // namespace sdm::experiments
