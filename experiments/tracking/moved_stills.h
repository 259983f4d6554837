#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/registry.h"
#include "sdm/face/shape.h"
#include "sdm/image/image_view.h"

namespace sdm::experiments {

/// A labelled picture of one face.
struct Still {
  std::string name;
  image::Image<std::uint8_t> picture;
  face::Shape points;
};

/// At most `count` stills (0: all), spread over the whole list: the development faces of the data
/// folder where they are (or the annotations that context.data names), else photographs that Debian
/// packages install, on which the shipped model's own points stand in for the truth. `source` tells
/// which. Throws NoData saying what to install when there is neither.
std::vector<Still> load_stills(const ExperimentContext& context, int count, std::string& source);

/// How strongly a still is moved: the ends of smooth oscillations that begin at rest.
struct MovedStillOptions {
  int frames = 40;
  double shift = 0.35;     // of the outer eye corners' distance
  double scale = 0.15;     // of its logarithm
  double rotation = 0.25;  // in the plane, radians
  double tilt = 0.25;      // out of the plane, radians: seen as a flat face
  double gain = 0.3;       // of its logarithm
  double offset = 20;      // grey levels
  double side_light = 0.35;
  double blur = 3;   // px along the motion
  double noise = 3;  // grey levels
  std::uint64_t seed = 1;
};

struct MovedFrame {
  image::Image<std::uint8_t> picture;
  face::Shape truth;  // exact: the still's points, moved as its pixels were
};

/// A still seen by a moving camera in changing light, as a video of one face with exact truth.
class MovedStill {
 public:
  /// The still must outlive this. Needs the 68-point markup (its outer eye corners) or gives
  /// the face's size by the extent of its points.
  explicit MovedStill(const Still& still, const MovedStillOptions& options = {});

  int frames() const { return options_.frames; }
  /// The same for the same seed and number, in any order. Thread-safe.
  MovedFrame frame(int number) const;

 private:
  // One oscillation of each kind of change, in [-1, 1] and 0 at first.
  double wave(int kind, double t) const;
  // From the still's pixels to the frame's.
  Eigen::Matrix3d motion(double t) const;

  const Still& still_;
  MovedStillOptions options_;
  Eigen::Vector2d centre_;
  double unit_;
  std::vector<double> rates_, shares_;
};

}  // namespace sdm::experiments
