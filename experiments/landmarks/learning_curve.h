#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "adapters/peers/dlib_trees.h"
#include "sdm/face/train/trainer.h"

namespace sdm::experiments {

/// One kind of object: pictures to learn from and how the error is told.
struct LandmarkSet {
  std::string name;
  std::string unit = "px";  // of the error: "px", or "%" of the distance of the points `over`
  face::UnitPoints over{-1, -1};
  std::vector<int> mirror;
  std::vector<face::TrainingFace> faces;
  /// Measured on these; empty: 5-fold cross-validation over `faces`.
  std::vector<face::TrainingFace> test;
  std::vector<int> sizes;  // how many to learn from
  double budget = 5;       // seconds to choose options in, as choose_options reckons them
  int faces_to_choose_by = 400;
  int most_for_trees = 1 << 30;  // dlib takes too long with more
};

/// dlib's settings for so many samples. For few pictures shallow trees and a small nu are the best
/// of the grid of `./run bench landmarks`; there are about as many starts whatever the samples.
peers::TreeOptions tree_options(int samples);

/// What one method reaches with so many samples.
struct LearningPoint {
  std::string method;  // "sdm" or "dlib"
  int samples = 0;
  double error = 0;    // mean over all points of the faces held out, in the set's unit
  double seconds = 0;  // of one training with the choice of options, by the wall's clock
};

/// Trains with each number of samples, by the automatic choice, and dlib's trees where the program
/// has them. Every size that exceeds what there is to learn from is left out; without `test` all
/// that the other four folds have is the last size.
std::vector<LearningPoint> learning_curve(
    const LandmarkSet& set, std::uint64_t seed, int threads,
    const std::function<void(double share, const std::string& activity)>& progress);

}  // namespace sdm::experiments
