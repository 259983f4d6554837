#pragma once

#include <vector>

#include "sdm/base/random.h"
#include "sdm/rigid/train/train_tracker.h"

namespace sdm::rigid {

/// The template and its surround in the pixels that the tracker will see: as the camera gives it,
/// and blurred and noisy.
class Pictures {
 public:
  Pictures(image::ByteView frame, const TemplateShape& shape, const Warp& warp,
           const TrainTrackerOptions& options);

  /// The first is the clean one; beyond the last they begin again.
  image::ByteView raw(Index i) const { return raw_[static_cast<std::size_t>(i) % raw_.size()]; }
  /// As the stages see them.
  image::ByteView smoothed(Index i) const {
    return smoothed_[static_cast<std::size_t>(i) % smoothed_.size()];
  }
  const Warp& from_template() const { return from_template_; }

 private:
  std::vector<image::Image<std::uint8_t>> raw_, smoothed_;
  Warp from_template_;
};

/// A warp drawn as the options say, its deviations stretched by a factor.
Warp draw_warp(const TrainTrackerOptions& options, double stretch, Random& random);

/// Learns the score from trials on the pictures, displaced, partly covered, in other light and with
/// another texture in the template's place. The tracker's model needs a score to begin with: it
/// decides when the weighted maps run, and stays where the trials say too little.
Score learn_score(const Tracker& tracker, const Pictures& pictures,
                  const TrainTrackerOptions& options);

}  // namespace sdm::rigid
