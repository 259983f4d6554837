#pragma once

#include <array>
#include <cstdint>

#include "sdm/face/model.h"
#include "sdm/image/image_view.h"

namespace sdm::face {

/// A start of which it is known afterwards whether the fit is good: what a confidence is learned
/// from and measured on.
struct Trial {
  Similarity start;
  image::Image<std::uint8_t> faceless;  // look here in place of the face's picture; may be empty

  bool has_face() const { return image::ByteView(faceless).empty(); }
};

/// Where a trial starts.
enum class TrialKind {
  detected,  // near the face, as from a detector's box
  tracked,   // near the face, as from the frame before
  moved,     // by 0.3 to 2 units
  resized,   // far too large or small
  turned,    // by 45 degrees or more
  window,    // a small one anywhere in the picture
  faceless,  // on a made-up picture: flat, noise, a slope, stripes or blobs
};

inline constexpr std::array kTrialKinds{TrialKind::detected, TrialKind::tracked, TrialKind::moved,
                                        TrialKind::resized,  TrialKind::turned,  TrialKind::window,
                                        TrialKind::faceless};
inline constexpr int kNearTrials = 2;  // the first ones

/// The same for the same seed and number of the face. Thread-safe.
Trial make_trial(TrialKind kind, image::ByteView picture, const Shape& truth, const Model& model,
                 std::uint64_t seed, std::uint64_t face);

/// Mean distance of the known points in units of the true face.
double unit_error(const Shape& points, const Shape& truth, const Shape& mean);

}  // namespace sdm::face
