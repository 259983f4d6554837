#pragma once

#include <cstdint>

#include "sdm/face/model.h"
#include "sdm/image/image_view.h"

namespace sdm::face {

/// A start of which it is known afterwards whether the fit is good: what a confidence is learned
/// from and measured on.
struct Trial {
  Frame start;
  image::Image<std::uint8_t> faceless;  // look here in place of the face's picture; may be empty

  bool has_face() const { return image::ByteView(faceless).empty(); }
};

/// Kinds of trials: near the face as a detector and as a tracker start; then moved by 0.3 to 2
/// units, far too large or small, turned by 45 degrees or more, a small window anywhere in the
/// picture, and a made-up picture (flat, noise, a slope, stripes or blobs).
inline constexpr int kTrialKinds = 7;
inline constexpr int kNearTrials = 2;  // the first ones

/// The same for the same seed. Thread-safe.
Trial make_trial(int kind, image::ByteView picture, const Shape& truth, const Model& model,
                 std::uint64_t seed);

/// Mean distance of the known points in units of the true face.
double unit_error(const Shape& points, const Shape& truth, const Shape& mean);

}  // namespace sdm::face
