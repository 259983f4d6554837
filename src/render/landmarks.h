#pragma once

#include <array>
#include <vector>

#include "render/layout.h"
#include "sdm/render/head_model.h"
#include "sdm/render/rasteriser.h"

namespace sdm::render {

using Landmarks68 = Eigen::Matrix<float, 2, 68>;
/// The ten brow points, 17 to 26, where the brows were painted.
using BrowPoints = std::array<SurfacePoint, 10>;

/// The 68 points in iBUG's sense, on a head as it is drawn.
class Landmarks {
 public:
  Landmarks(const HeadModel& head, const Layout& layout);

  /// Points 17 to 67, where they are in space; 0 to 16 are the nearest points of the contour.
  /// `points` in the camera's frame, `roll` in radians, against the clock.
  std::array<Eigen::Vector3f, 68> place(const Points& points, const Camera& camera, float roll,
                                        const BrowPoints& brows) const;

 private:
  struct Meridian {
    float cosine, sine;  // of its direction on the neutral face, seen from the front
    std::vector<SurfacePoint> points;
  };
  std::vector<Meridian> meridians_;  // from one ear over the chin to the other
  std::array<SurfacePoint, 68> fixed_;
};

}  // namespace sdm::render
