#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sdm/descent/solve.h"
#include "sdm/image/image_view.h"
#include "sdm/io/model.h"
#include "sdm/rigid/canvas.h"
#include "sdm/rigid/frame_window.h"

namespace sdm::rigid {

/// What a tracker has learned of its template (train_tracker.h makes it).
struct TrackerModel {
  Motion motion = Motion::affine;
  TemplateShape shape;
  std::vector<Canvas> canvases;          // coarse to fine
  std::vector<Vector<float>> templates;  // HoG of the template on each canvas, h(t(x))
  std::vector<int> stage_canvas;         // which canvas each stage looks at
  Cascade<float> cascade;                // states are warps relative to the last estimate
  std::vector<Warp> search;              // places, seen from the last, to try when it is lost
  Warp start = Warp::Identity();         // where the template was
  double lost_above = 0.3;
  std::string provenance;  // what it was made from, for people

  /// As a model of kind "rigid", and back; and as a file. Throw Error on another kind and on parts
  /// that do not fit together.
  io::Model to_model() const;
  static TrackerModel from_model(const io::Model& model);
  void save(const std::filesystem::path& path) const;
  static TrackerModel load(const std::filesystem::path& path);

  /// Throws Error naming the parts that do not fit together.
  void validate() const;
};

/// What one frame gave.
struct Track {
  Warp warp = Warp::Identity();  ///< template coordinates (region.h) to frame pixels
  Quad corners = Quad::Zero();   ///< of the template, in the frame
  double difference = 0;         ///< |h(frame) - h(template)| / |h(template)| in HoG space
  bool lost = false;             ///< the difference is above the model's limit, or not a number
};

/// Follows a template from frame to frame (section "An SDM Solution"): the frame is warped back by
/// the last estimate, the maps run near the identity, Delta p = R_k (h(t(x)) - h(d(f(x, p_k)))),
/// and the update is composed with the last estimate.
///
/// Where that ends lost, the same maps run from each place of a small grid around the last
/// estimate, and the least HoG difference wins: a partition of a wider range (section "Conclusions"
/// and descent/partition.h) whose cells, as warps are a group, share one cascade.
///
/// One tracker serves one thread. Nothing is allocated after construction. A copy follows on its
/// own and shares the model.
class Tracker {
 public:
  /// Where to look again when the template is lost: a region of the frame, or nothing.
  using Detector = std::function<std::optional<Quad>(image::ByteView)>;

  /// Throws Error if the parts of the model do not fit together.
  explicit Tracker(TrackerModel model);

  /// Finds the template in the next frame, which must be grey, 0..255. While it is lost the last
  /// good estimate is kept as the place to start from, and the detector, if there is one, is asked
  /// for another. Throws Error on an empty frame.
  Track update(image::ByteView frame);

  /// The same from a given place, without moving the tracker. A place that is not finite is lost.
  Track align(image::ByteView frame, const Warp& start);

  /// The HoG difference at any warp: the lost rule for other methods too.
  double difference(image::ByteView frame, const Warp& warp);

  /// Moves the tracker, for example to where a detector found the template.
  void restart(const Warp& warp) { warp_ = warp; }
  void set_detector(Detector detector) { detector_ = std::move(detector); }

  const Warp& warp() const { return warp_; }
  const TrackerModel& model() const { return *model_; }

 private:
  Track settle(image::ByteView frame, const Warp& start);
  Track descend(image::ByteView frame, const Warp& start);
  double difference_in_view(const Warp& warp);

  std::shared_ptr<const TrackerModel> model_;
  Solver<float> solver_;
  FrameWindow window_;
  std::vector<float> pixels_;
  Vector<float> features_;
  Warp warp_;
  Detector detector_;
};

}  // namespace sdm::rigid
