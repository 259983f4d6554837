#pragma once

#include <string>
#include <vector>

#include "experiments/registry.h"
#include "experiments/tracking/moved_stills.h"
#include "sdm/face/model.h"

namespace sdm::experiments {

/// Where a face goes: its place along one direction, in eye distances, for each frame.
using Path = std::vector<double>;

Path still_path();
/// Stands, then is somewhere else from one frame to the next.
Path step_path(double size);
/// Stands, moves at this speed (eye distances a frame), and stands again.
Path ramp_path(double speed);

/// The frames in which a path is measured.
inline constexpr int kMoveFrame = 35, kRampFrames = 12, kPathFrames = 60;

/// A still whose face goes along a path, as a camera sees it: every frame is shaken by a fraction
/// of a pixel and has sensor noise and JPEG's of its own. The same for the same seed and number.
MovedFrame seen_on_path(const Still& still, const Path& path, std::uint64_t seed, int number);

/// Points of one method on one face in every frame of a path; without columns where it was lost.
using Track = std::vector<face::Shape>;

/// The deviation of the points of a face that stands still from their own means: root mean square
/// over points and frames (the first ones are left out), percent of the eye distance.
double jitter_percent(const Track& track, double unit);

/// How far along its direction a face was seen, mean of points and faces, in eye distances; 0 is
/// its mean before it moves. Faces that were lost are left out.
std::vector<double> mean_progress(const std::vector<Track>& tracks,
                                  const std::vector<Eigen::Vector2d>& directions,
                                  const std::vector<double>& units);
/// How many frames a response comes late: the sum of what is still missing of the step.
double step_lag(const std::vector<double>& progress, double size);
/// How many frames it runs behind a motion of this speed.
double ramp_lag(const std::vector<double>& progress, double speed);

struct NamedModel {
  std::string name;
  const face::Model* model;
};

/// Jitter and lag of the tracker's points, raw and smoothed, and of dlib's on every frame: rows,
/// a table, a figure and a claim.
void measure_steadiness(const ExperimentContext& context, const std::vector<NamedModel>& models,
                        Results& results);

}  // namespace sdm::experiments
