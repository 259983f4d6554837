#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sdm/face/box_detector.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/read_pictures.h"
#include "sdm/face/model.h"

namespace sdm::face {

/// One of the things that find landmarks and are compared on annotated faces: run here, or with
/// predictions that were made elsewhere.
struct Method {
  std::string name;
  /// Empty: the predictions are there already.
  std::function<Shape(image::ByteView grey, const Box& box)> find;
  /// Where it starts from boxes of its own and not from the faces': one for each face.
  std::vector<std::optional<Box>> boxes;
  Annotations predictions;
  std::vector<double> seconds;  // that find took, for each face it was asked

  /// A face's, the median; NaN where none was asked.
  double microseconds() const;
};

/// A model, started from boxes of this convention. `stages` > 0 takes its first stages alone: one
/// is the linear regression of the paper's comparison.
Method model_method(std::string name, Model model, const BoxConvention& convention, int stages = 0);
/// Predictions out of a file in any format of annotations, brought into the order of the truth.
Method predicted_method(std::string name, const Annotations& truth, const Annotations& predictions);

struct MethodRunOptions {
  /// How a face without a box gets one: from its true points as this model's detector would.
  std::optional<Model> model{};
  BoxConvention convention{};
  /// Called once for each thread. Where it is given the pictures are searched first, and the boxes
  /// that were found replace those of the faces.
  std::function<BoxDetector()> make_detector{};
  /// Seconds since whenever, to time `find` with; empty: the wall clock.
  std::function<double()> clock{};
  std::uint64_t seed = 1;
  int threads = 0;  // to read and search pictures with; 0: all cores
  std::function<void(double share)> progress{};
};

struct MethodRun {
  int from_truth = 0;                   // faces that had no box
  std::vector<std::string> unreadable;  // pictures, and why
};

/// Runs the methods on every true face; a face without a box gets one first. Pictures are read and
/// searched in parallel; finding is timed and so has the machine to itself. Methods without a
/// `find` are left as they are. A face whose picture cannot be read gets a prediction without
/// points.
MethodRun run_methods(Annotations& truth, std::vector<Method>& methods, const PictureReader& read,
                      const MethodRunOptions& options);

}  // namespace sdm::face
