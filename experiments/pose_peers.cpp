#include "experiments/pose_peers.h"

#ifdef SDM_HAVE_OPENCV_CALIB3D
#include <memory>
#include <opencv2/calib3d.hpp>
#endif

namespace sdm::experiments {

#ifdef SDM_HAVE_OPENCV_CALIB3D
std::vector<PosePeer> opencv_peers(const pose::Points3& object, const pose::Camera& camera,
                                   const std::vector<pose::Points2>& images) {
  struct Shared {
    std::vector<cv::Point3d> object;
    std::vector<std::vector<cv::Point2d>> images;
    cv::Matx33d camera;
  };
  cv::setNumThreads(1);
  auto shared = std::make_shared<Shared>();
  for (const auto& point : object.colwise())
    shared->object.emplace_back(point.x(), point.y(), point.z());
  for (const pose::Points2& image : images) {
    auto& points = shared->images.emplace_back();
    for (const auto& point : image.colwise()) points.emplace_back(point.x(), point.y());
  }
  shared->camera = {camera.fx, 0, camera.cx, 0, camera.fy, camera.cy, 0, 0, 1};

  const auto peer = [&](const char* name, int method, bool slow) {
    return PosePeer{name,
                    [shared, method](Eigen::Index image) {
                      cv::Vec3d turn, move;
                      cv::solvePnP(shared->object, shared->images[static_cast<std::size_t>(image)],
                                   shared->camera, cv::noArray(), turn, move, false, method);
                      const Eigen::Vector3d axis(turn[0], turn[1], turn[2]);
                      const double angle = axis.norm();
                      pose::Pose found;
                      if (angle > 0) found.rotation = Eigen::AngleAxisd(angle, axis / angle);
                      found.translation = {move[0], move[1], move[2]};
                      return found;
                    },
                    slow};
  };
  return {peer("iterative", cv::SOLVEPNP_ITERATIVE, true), peer("epnp", cv::SOLVEPNP_EPNP, true),
          peer("sqpnp", cv::SOLVEPNP_SQPNP, false)};
}
#else
std::vector<PosePeer> opencv_peers(const pose::Points3&, const pose::Camera&,
                                   const std::vector<pose::Points2>&) {
  return {};
}
#endif

}  // namespace sdm::experiments
