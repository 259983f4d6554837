#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sdm/image/image_view.h"
#include "sdm/rigid/region.h"

namespace sdm::experiments {

/// One method behind one call, so that all are driven alike.
class Follower {
 public:
  virtual ~Follower() = default;
  /// The template's warp in this frame, starting from the last one (or the one set). Not finite
  /// where the method gave up.
  virtual rigid::Warp update(image::ByteView frame) = 0;
  virtual void restart(const rigid::Warp& warp) = 0;
  /// The probability that the last answer is right, as the method sees it; NaN where it does not.
  virtual double score() const { return std::numeric_limits<double>::quiet_NaN(); }
};

struct FollowerOptions {
  rigid::Motion motion = rigid::Motion::affine;
  int iterations = 20;  // of Lucas-Kanade and ECC, all of them run
  std::uint64_t seed = 1;
  int threads = 0;
};

/// "sdm", "sdm_paper", "lk_forward_additive", "lk_inverse_compositional" and, with OpenCV, "ecc".
const std::vector<std::string>& follower_names();
std::unique_ptr<Follower> make_follower(const std::string& name, image::ByteView frame,
                                        const rigid::Quad& region, const FollowerOptions& options);

}  // namespace sdm::experiments
