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
#include "sdm/rigid/polish.h"
#include "sdm/rigid/scan.h"
#include "sdm/rigid/score.h"

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
  PixelTemplate pixels;                  // for the polish after the maps; not known: none
  Score score;                           // decides what is lost; not known: lost_above does
  bool scan = false;                     // look for a lost template in the whole frame
  Warp start = Warp::Identity();         // where the template was
  double lost_above = 0.3;               // the paper's rule
  std::string provenance;                // what it was made from, for people

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
  /// Of the 60 % of the template that correlate best with the frame, the mean; NaN without a score.
  double correlation = 0;
  double score = 0;   ///< probability that the corners are right; NaN if not learned
  bool lost = false;  ///< the score is under a half; without one, the difference above the limit
};

/// Slow change of appearance: what the maps aim at follows what is seen, y <- lambda y + (1 -
/// lambda) h (the forgetting of section "Online SDM"), only in frames of a high score, and never
/// farther from the first template than `reach` of its norm. Polish and score stay with the first
/// template, so that nothing drifts.
struct AppearanceOptions {
  double forgetting = 0.95;
  double least_score = 0.9;
  double reach = 0.25;

  /// Throws Error naming the option that makes no sense.
  void validate() const;
};

/// Follows a template from frame to frame (section "An SDM Solution"): the frame is warped back by
/// the last estimate, the maps run near the identity, Delta p = R_k (h(t(x)) - h(d(f(x, p_k)))),
/// and the update is composed with the last estimate.
///
/// What the maps found is polished on the pixels (polish.h) and scored. Where some cells do not fit
/// it is polished again with a weight for each cell; where the score leaves a doubt, or more cells
/// show something else, the maps run again with a weight for each cell from its residual, so that a
/// part that is covered does not count. Where that ends lost, they run from
/// each place of a small grid around the last estimate, and the best wins: a partition of a wider
/// range (section "Conclusions" and descent/partition.h) whose cells, as warps are a group, share
/// one cascade. What stays lost is looked for in the whole frame (scan.h).
///
/// One tracker serves one thread. Nothing is allocated after construction, but that the first scan
/// of a frame's size makes room for it. A copy follows on its own and shares the model.
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

  /// What the score looks at, for any warp. Needs a finite warp and a model with pixels.
  ScoreFeatures evidence(image::ByteView frame, const Warp& warp);

  /// How far parts of the template have moved against the whole (Polisher::bend), in template
  /// units: little for what is flat. Needs a finite warp and a model with pixels.
  double bend(image::ByteView frame, const Warp& warp);

  /// The HoG difference at any warp: the lost rule for other methods too.
  double difference(image::ByteView frame, const Warp& warp);

  /// Lets the templates follow the appearance from now on; `first_appearance` goes back. Throws
  /// Error on options that make no sense, and for a model without a score.
  void adapt(const AppearanceOptions& options = {});
  void first_appearance();

  /// Moves the tracker, for example to where a detector found the template.
  void restart(const Warp& warp) { warp_ = warp; }
  void set_detector(Detector detector) { detector_ = std::move(detector); }

  const Warp& warp() const { return warp_; }
  const TrackerModel& model() const { return *model_; }

 private:
  Track settle(image::ByteView frame, const Warp& start);
  bool settled(const Track& track) const;
  enum class Way { maps, maps_alone, weighted_maps, weighted_pixels };
  Track polish_again(const Warp& start);
  Track whole(image::ByteView frame, const Warp& start, const Track& even, const Track& best);
  Track descend(image::ByteView frame, const Warp& start, Way way);
  void measure(const Warp& warp, Track& track);
  double difference_in_view(const Warp& warp);
  ScoreFeatures score_features(double difference);
  void weigh(VectorRef<float> seen, const Vector<float>& target);
  bool better(const Track& a, const Track& b) const;
  void follow_appearance(image::ByteView frame, const Track& track);

  std::shared_ptr<const TrackerModel> model_;
  Solver<float> solver_;
  FrameWindow window_;
  std::vector<float> pixels_;
  Vector<float> features_;
  std::optional<Polisher> polisher_;
  Vector<float> cell_error_, cell_sorted_;
  std::vector<Vector<float>> targets_;  // the templates, where they follow the appearance
  std::optional<AppearanceOptions> appearance_;
  Scanner scanner_;
  int lost_frames_ = 0;
  Warp warp_;
  Detector detector_;
};

}  // namespace sdm::rigid
