#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sdm/face/aligner.h"
#include "sdm/face/box_detector.h"
#include "sdm/face/detector.h"
#include "sdm/face/smoothing.h"
#include "sdm/pose/head_pose.h"

namespace sdm::face {

struct TrackerOptions {
  int faces = 1;  // followed at once, at most
  /// A face whose score falls below this is lost; a box whose fit scores less is no face.
  float threshold = 0.5F;
  /// With fewer faces than wanted the detector is asked at once when one is lost, in every frame
  /// while there is none, and else in every so many frames.
  int search_every = 15;
  /// A face found again where it was lost, within so many frames, keeps its id.
  int memory = 10;
  bool smooth = true;
  SmoothingOptions smoothing{};
  std::string detector{};  // whose boxes a BoxDetector gives; empty: the model's default

  /// Throws Error naming the option that is out of range.
  void validate() const;
};

struct TrackedFace {
  int id = 0;             // counts up from 1 and never means another face
  Shape points;           // in pixels
  float score = 0;        // see Alignment
  Vector<float> visible;  // likewise
  bool detected = false;  // in this frame, by the detector; else followed from the frame before
  std::optional<pose::HeadPose> pose;  // if the model knows its points in space and they tell it
};

struct TrackedFrame {
  std::vector<TrackedFace> faces;
  std::vector<int> lost;  // ids that were there in the frame before and could not be followed
  bool searched = false;  // the detector was asked
};

/// What tells the head's pose from a model's landmarks; none if the model does not know its points
/// in space, or they are few or on a plane.
std::optional<pose::HeadPoseEstimator> head_of(const Model& model);

/// The head's pose of a fit, from the points that are likelier seen and right than not, or from all
/// if these are fewer than half; none without `head`, or if the points tell none.
std::optional<pose::HeadPose> head_pose(const std::optional<pose::HeadPoseEstimator>& head,
                                        const Shape& points, const Vector<float>& visible);

/// Follows faces through a video: detect once, then start each frame where the last one ended.
///
/// The maps of detection scatter when they are started from landmarks (they never saw such starts).
/// So each frame starts from the mean shape, placed, turned and sized by the last landmarks and
/// carried on by their motion: what the maps were trained for, only nearer (docs/face-tracking.md).
///
/// One tracker a thread. A frame of as many faces as the one before, without a search, allocates
/// nothing.
class Tracker {
 public:
  /// The model must outlive it. Throws Error on options out of range, a detector whose boxes the
  /// model does not know, and no detector.
  Tracker(const Model& model, BoxDetector detector, const TrackerOptions& options = {});
  /// The same with our own detector, which knows roll and landmarks as well as boxes. Both must be
  /// of the same objects. Throws Error if what verifies its faces has another number of points.
  Tracker(const Model& model, Detector detector, const TrackerOptions& options = {});
  ~Tracker();
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;

  /// The next frame. The time is for smoothing alone. The result is overwritten by the next call.
  /// Frames may differ in size. Throws Error on an empty picture.
  const TrackedFrame& update(image::ByteView grey, double seconds);

  /// Forgets all faces, as at a cut; ids go on.
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sdm::face
