#pragma once

#include <cstdint>
#include <string>

#include "sdm/descent/train/train.h"
#include "sdm/rigid/tracker.h"

namespace sdm::rigid {

/// How a tracker learns its template from the one frame it is given.
struct TrainTrackerOptions {
  Motion motion = Motion::affine;

  /// Warps drawn around the true one, each shown to the trainer once.
  Index samples = 2000;
  int stages = 4;

  /// Standard deviations of the drawn warps (the paper's, for a template of 100 px): of the linear
  /// terms, of the translation in hundredths of the longer side, and of a homography's last row.
  double linear_deviation = 0.05;
  double translation_deviation = 8;
  double perspective_deviation = 5e-4;

  /// Each sample's deviations are stretched by a factor between 0 and twice this. 0: not at all, as
  /// in the paper. A wider range survives faster motion; the small ones among the samples keep the
  /// last stages sharp.
  double spread = 1;

  /// Longest motion blur (px of a 100 px template) and strongest noise (grey levels) put on the
  /// samples. Without them a blurred or noisy frame throws the tracker off.
  double blur = 14;
  double noise = 12;

  /// Pixels along the template's longer side: in the first `coarse_stages` stages and in the rest.
  int coarse_stages = 2;
  int coarse_side = 35;
  int fine_side = 50;
  int cell = 5;

  /// A lost template is searched this far around the last estimate (at the corners, in hundredths
  /// of the longer side): shifted, turned, larger and smaller. 0: not searched, as in the paper.
  double search = 30;

  /// Pixels along the longer side of the raster on which what the maps found is polished
  /// (polish.h). 0: no polish, as in the paper.
  int polish_side = 50;

  /// Trials from which the score is learned (score.h). 0: none, the HoG difference decides what is
  /// lost, as in the paper.
  Index score_trials = 240;

  /// Look for a lost template in the whole frame (scan.h).
  bool scan = true;

  Penalty penalty = Penalty::relative(1e-2);

  /// Without a score the template is lost above this relative difference in HoG space.
  double lost_above = 0.3;

  std::uint64_t seed = 1;
  std::string provenance;  // where the frame is from, for people
  int threads = 0;

  /// The paper's: 300 clean samples, the deviations as they are, one resolution, the maps run once
  /// and nothing after them.
  static TrainTrackerOptions paper();

  /// Throws Error naming the first option that makes no sense.
  void validate() const;
};

struct TrackerTraining {
  Tracker tracker;
  TrainSummary summary;  // errors are mean corner errors in template units
  /// How far noise of kPlainNoise grey levels moves the corners the way that the template tells
  /// least, in px of its frame: above 1 it is too plain to be followed well. NaN without polish.
  double uncertainty = 0;
};

inline constexpr double kPlainNoise = 2;

/// Learns to follow what the frame shows in a region. Throws Error if the region leaves the frame,
/// is not a convex quadrilateral or shows nothing to follow (a flat patch).
TrackerTraining train_tracker(image::ByteView frame, const Quad& region,
                              const TrainTrackerOptions& options = {});

}  // namespace sdm::rigid
