#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sdm/face/train/trainer.h"

namespace sdm::face {

/// How to learn other points of the same object from few pictures. Penalties are ridge penalties
/// times the mean energy of a sample's features: a penalty of 10 weighs as much as ten samples.
/// Each is chosen by held-out error.
struct BaseTrainerOptions {
  /// The partner of each new point, used where the base has a mirror too. Empty: none, or the one
  /// that the points' mean places tell if `find_mirror`.
  std::vector<int> mirror;
  bool find_mirror = false;
  /// Of the faces' boxes. Those that the base does not know are measured.
  std::vector<std::string> detectors = {"box"};
  /// Of each face: first from the boxes of the detectors that the base knows, the rest about its
  /// true place, as from a detector and from a tracker in turn.
  int starts = 6;
  int folds = 10;

  /// Each new point begins as the mean of the base's points about it, weighted by
  /// exp(-d^2 / (2 near^2)), d in units; what the regression may add to it lies within `reach`.
  float near = 0.08F, reach = 0.2F;
  std::vector<double> map_penalties = {0.3, 1, 3, 10, 30};

  /// The stages: each takes the cell that gives the least held-out error, in units, and is kept
  /// only if that error falls by more than the share `least_gain`.
  float unit = 100;  // canvas pixels for one unit
  int cells = 4;
  std::vector<float> cell = {0.06F, 0.045F, 0.03F};
  std::vector<double> penalties = {3, 10, 30, 100, 300};
  int stages = 4;
  double least_gain = 0.002;
  /// Points farther off than this many units count less, as robust / distance; 0: all the same.
  double robust = 0.02;

  std::uint64_t seed = 1;
  int threads = 0;
  std::string name = "face", provenance, licence;

  /// Throws Error naming the option that is out of range.
  void validate() const;
};

/// What was learned first, or in a stage: held-out errors, mean point distances in units over all
/// starts, where one that is farther off than kGoodFit counts as that.
struct BaseStage {
  float cell = 0;  // in units; 0: the map from the base's points
  double penalty = 0;
  double error_before = 0, error_after = 0;
  bool kept = true;
};

struct BaseTrainerObserver {
  /// How far it is, 0 to 1, and what it does now.
  std::function<void(double share, const std::string& activity)> progress;
  std::function<void(const BaseStage&)> stage;
};

struct TrainedOnBase {
  Model model;
  std::vector<BaseStage> stages;  // the last one may not have been kept
  int lost = 0;                   // faces that the base does not find: its score is below 0.5
  std::string shape3d_message;    // why the model knows no points in space; empty: it knows them

  double error() const;  // held out
};

/// Learns a model that starts from the base's answer. First the new points as a linear map of the
/// base's: ridge regression towards the mean of the nearest ones, because a new point is near some
/// old one and a map that begins at zero must learn even that. Then stages in which each point
/// moves by its own patch alone: few numbers to learn, so few pictures do. Every face is moved on
/// by the maps that did not see it. Throws Error naming what is out of range, or a face without a
/// picture, with another number of points or fewer than half of them.
TrainedOnBase train_on_base(const std::vector<TrainingFace>& faces,
                            std::shared_ptr<const Model> base, const BaseTrainerOptions& options,
                            const BaseTrainerObserver& observer = {});

}  // namespace sdm::face
