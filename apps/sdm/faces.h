#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sdm/face/aligner.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/detector.h"
#include "sdm/face/model.h"

namespace sdm::app {

// What the face commands share: the model, how its boxes are read, and who finds the faces.

/// Whether a licence lets everybody use and sell what is under it.
bool is_free(const std::string& licence);

/// The model at `path`, or the shipped one of this name ("face68-fast"); where it is empty, face68,
/// or with `free` the first of the shipped face68, face68-free and face68-free-fast whose licence
/// is free. Throws: saying where it looked; with `free`, a model whose licence is not, telling it.
face::Model load_face_model(const std::string& path, bool free = false);

using face::kWholePicture;

/// Our own detector: a shipped one ("sdm", or "sdm-free", whose licence is free) or a file. Throws:
/// it cannot be loaded.
face::DetectorModel load_detector(const std::string& name);

/// Whether a detector says itself how its boxes lie, so that no model need know it: ours, and
/// YuNet networks.
bool knows_its_boxes(const std::string& detector);

/// How to read the boxes of `detector`: as it says itself, or as the model learned it (an empty
/// name: its default), or by `offset`: the face's unit in box widths and its centre's distance from
/// the box's, in widths. Throws: a unit that is not positive and a cascade file without an offset,
/// as wrong usage; a detector the model does not know.
face::BoxConvention box_convention(const face::Model& model, const std::string& detector,
                                   const std::vector<float>& offset);

/// Whose boxes of a file to start from: the first detector that the model knows and the file has,
/// or the model's default.
std::string detector_of(const face::BoxTable& boxes, const face::Model& model);

/// What `--detector` means.
struct DetectorChoice {
  std::string name;           // as given: sdm, haar_alt2, a file; empty: the best one for the model
  std::vector<float> offset;  // --detector-offset
  face::DetectorOptions options;
  std::filesystem::path cascades;  // OpenCV's folder
};

/// Where a face is to be looked for.
struct FoundFace {
  face::Box box;
  face::Similarity start;
};

/// Finds faces for a landmark model: by our own detector, or by one of OpenCV's. The model must
/// outlive it. One a thread; all of them share what was loaded.
class FaceFinder {
 public:
  /// An empty name: our detector where the model has the points it verifies with, or knows its
  /// boxes (the free one where the model is free); else the model's default. Throws: a detector
  /// that is not known or cannot be loaded.
  FaceFinder(const face::Model& model, DetectorChoice choice);

  bool is_ours() const { return detector_model_ != nullptr; }
  /// How its boxes are read. Ours are read by place, and this is what they are shown as.
  const face::BoxConvention& convention() const { return convention_; }

  /// Ours. Throws: it is not ours.
  face::Detector detector() const;
  /// Whichever it is, as boxes by convention().
  face::BoxDetector box_detector() const;
  /// The same as boxes of another convention, such as the model's own.
  face::BoxDetector boxes_as(const face::BoxConvention& convention) const;
  /// Finds the faces of a picture, the largest first; for one thread.
  using Find = std::function<std::vector<FoundFace>(image::ByteView grey)>;
  Find find() const;

 private:
  const face::Model* model_;
  DetectorChoice choice_;
  face::BoxConvention convention_;
  std::shared_ptr<const face::DetectorModel> detector_model_;
  std::shared_ptr<const face::Model> verifier_;  // null: the model itself
};

/// The help of --detector and --detector-offset.
extern const char* const kDetectorHelp;
extern const char* const kOffsetHelp;

}  // namespace sdm::app
