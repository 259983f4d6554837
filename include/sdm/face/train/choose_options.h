#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sdm/face/train/trainer.h"

namespace sdm::face {

/// One of the settings that were tried.
struct TriedOptions {
  std::string what;     // "canvas of 100 px a unit"
  double error = 0;     // held out, in units, from the first detector's boxes
  int stages = 0;       // how many were worth it
  bool better = false;  // than all before it
};

struct ChoiceOptions {
  /// About so many seconds of one core are spent. What a setting costs is reckoned, not measured:
  /// the choice does not depend on the machine.
  double seconds = 60;
  /// So many faces, drawn at random, are enough to choose by.
  int faces = 400;
  std::function<void(const TriedOptions&)> tried{};
  std::function<void(double share)> progress{};
};

struct Choice {
  TrainerOptions options;
  std::vector<TriedOptions> tried;
  double error = 0;
  /// What was chosen, in words.
  std::string text;
};

/// Chooses canvas, cells, stages, penalty, rank and how starts are drawn by the error on faces that
/// the maps have not seen: one after the other from the "accurate" preset, each kept if it lowers
/// the error. Of `given` the points' mirror and unit, detectors, seed, threads and texts are kept.
/// Pictures should be trimmed for kFinestUnit. Throws what train throws.
Choice choose_options(const std::vector<TrainingFace>& faces, const TrainerOptions& given,
                      const ChoiceOptions& options = {});

/// The finest canvas that is tried, in pixels a unit.
inline constexpr float kFinestUnit = 200;

}  // namespace sdm::face
