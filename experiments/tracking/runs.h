#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "experiments/tracking/sequences.h"
#include "sdm/face/adaptation.h"
#include "sdm/face/model.h"

namespace sdm::experiments {

/// What is done with each model.
enum TrackingWay { detected, tracked, adapted, tracking_ways };

/// A model that comes with the program, and its adaptation state.
struct ShippedModel {
  std::string name;
  face::Model model;
  face::Adaptation state;
};

/// One way with one model on one sequence. The first frame, which adapting has seen, is left out.
struct TrackingRun {
  std::vector<double> errors;        // of each frame, percent; NaN where the face was lost
  std::vector<double> inner;         // of the 49 points
  std::vector<double> microseconds;  // without decoding and without the detector
  int searches = 0;                  // frames in which the tracker asked the detector
  /// On the first frame of another sequence.
  double other = std::numeric_limits<double>::quiet_NaN();

  int lost() const;  // frames
};

/// Follows a sequence with each model in each way. `other`, a frame of somebody else, may be empty.
/// In place of a detector: boxes that lie off the true place by as much as Haar's do.
std::vector<std::vector<TrackingRun>> follow_sequence(const std::vector<ShippedModel>& models,
                                                      const FaceSequence& sequence,
                                                      const MovedFrame& other, std::uint64_t seed);

/// The median time that OpenCV's Haar detector takes for a frame, on one core.
double detector_microseconds(const FaceSequences& sequences);

}  // namespace sdm::experiments
