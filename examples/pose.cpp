// Where does an object stand, given where its points are in an image?
//
// 1. Say what the object is and which poses can occur.
// 2. Train: the program projects the object in thousands of such poses and learns the maps that
//    lead from "how far off are the points" to "how far off is the pose".
// 3. Estimate: a handful of small matrix products for each image.
#include <cmath>
#include <cstdio>
#include <limits>

#include "sdm/pose/object.h"
#include "sdm/pose/projection.h"
#include "sdm/pose/train/train_estimator.h"

int main() {
  using namespace sdm::pose;

  // A cube of 200 mm, about 2 m away, turned by up to 30 degrees about each axis. The defaults of
  // TrainEstimatorOptions are the camera and the range of the paper's experiment.
  const Points3 object = cube(200);
  TrainEstimatorOptions options;
  options.samples = 4000;
  const Estimator estimator = train_estimator(object, options).estimator;

  // Take a picture of the cube in some pose...
  const Pose truth{from_euler({0.3, -0.2, 0.4}), {150, -80, 2200}};
  Points2 image = project(object, truth, estimator.camera());

  // ... in which one corner is hidden and another was mistaken for something else.
  image.col(3).setConstant(std::numeric_limits<double>::quiet_NaN());
  image.col(5) += Eigen::Vector2d(45, 30);

  // The learned descent alone, then with a polish that sets outliers aside.
  RefineOptions robust;
  robust.outlier_pixels = 5;
  const Estimate rough = estimator.estimate(image), fine = estimator.estimate(image, robust);
  const auto degrees_off = [&](const Estimate& found) {
    return angle_between(found.pose.rotation, truth.rotation) * 180 / M_PI;
  };
  std::printf("descent alone:       %.2f degrees off, %.2f px\n", degrees_off(rough),
              rough.reprojection_error);
  std::printf("with robust polish:  %.2f degrees off, %.2f px, %d of 8 points in use\n",
              degrees_off(fine), fine.reprojection_error, static_cast<int>(fine.points));
  return degrees_off(fine) < 0.1 ? 0 : 1;
}
