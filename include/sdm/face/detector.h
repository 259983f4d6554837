#pragma once

#include <memory>
#include <optional>
#include <span>

#include "sdm/face/aligner.h"
#include "sdm/face/box_detector.h"
#include "sdm/face/detector_model.h"

namespace sdm::face {

/// What to look for. All sizes are of a face's box, in pixels.
struct DetectorOptions {
  /// None: 40, and less in a picture with a longer side under 640: a sixteenth of it, at least 20.
  std::optional<float> smallest{};
  float largest = 1e9F;
  /// A face that scores less is not told. 0: every candidate.
  float min_score = 0.5F;
  /// Added to the model's own threshold of candidates, in log odds: below 0 more of them are tried.
  float threshold = 0;
  /// Look only here; without width: everywhere.
  Box region{};
  /// At most so many faces, the best ones.
  int most = 100;
  /// At most so many candidates are tried, the best ones: what bounds the time.
  int candidates = 300;
  /// Pictures with a longer side are searched shrunk, by halves; faces under `smallest` there are
  /// not found. It bounds the time too.
  int max_side = 2000;
  /// The smallest faces, of windows with cells under 4 pixels, are looked for in the picture of
  /// twice the size, where that keeps to max_side: more of them are found.
  bool doubled = true;

  /// Throws Error naming the option that is out of range.
  void validate() const;
  /// The smallest face that is looked for in a picture of this size.
  float smallest_in(int width, int height) const;
};

/// A face in a picture.
struct DetectedFace {
  Box box;         // upright, by the model's convention
  float roll = 0;  // radians from the x axis towards y: 0 is upright
  /// Of the fit (Alignment), or of the templates where nothing verifies: the probability of a face.
  float score = 0;
  Similarity place;  // of the face in the picture
  Shape points;      // in pixels; empty where nothing verifies
};

/// Finds the faces of a grey picture.
///
/// A few linear templates are scanned over the orientation cells of the picture at every size. What
/// scores enough is a candidate: a place, a size and a roll. From there a landmark model descends;
/// its score decides, and candidates that end on the same face are one. So the templates may be
/// cheap and their threshold low (docs/face-detection.md).
///
/// One detector a thread. After the first picture of a size it allocates nothing. Any number of
/// them may share the models, which must outlive them.
class Detector {
 public:
  /// Throws Error on a model that does not fit together.
  explicit Detector(const DetectorModel& model, const DetectorOptions& options = {});
  /// Candidates are verified by a landmark model of the objects that the detector was trained on.
  Detector(const DetectorModel& model, const Model& verifier, const DetectorOptions& options = {});
  ~Detector();
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;

  /// The largest face first. Overwritten by the next call. Throws Error on an empty picture and on
  /// a region that is not in it.
  std::span<const DetectedFace> detect(image::ByteView grey);

  const DetectorOptions& options() const;
  /// Throws Error naming the option that is out of range.
  void set_options(const DetectorOptions& options);

  /// Of the faces it finds; 0: nothing verifies.
  Index points() const;

  /// How many candidates the last picture had, and how many windows were looked at.
  struct Work {
    long windows = 0;
    int candidates = 0, fits = 0;
  };
  const Work& work() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same as boxes of another convention, for what takes a BoxDetector: each is the box whose
/// upright face has the place and size of the one found. Copies share the detector.
BoxDetector box_detector(Detector detector, const BoxConvention& convention);

/// Whether two places are of one face: nearer than most of the larger one and of about its size.
bool same_face(const Similarity& a, const Similarity& b);

}  // namespace sdm::face
