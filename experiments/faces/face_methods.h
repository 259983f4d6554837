#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/plot.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/evaluation.h"
#include "sdm/face/model.h"
#include "sdm/image/image_view.h"

namespace sdm::experiments {

/// One of the things that find landmarks and are compared: run here, or with predictions that were
/// made elsewhere.
struct FaceMethod {
  std::string name;
  /// Empty: the predictions are there already.
  std::function<face::Shape(image::ByteView grey, const face::Box& box)> find;
  /// Where it starts from boxes of its own and not from the faces': one for each face.
  std::vector<std::optional<face::Box>> boxes;
  face::Annotations predictions;
  std::vector<double> seconds;  // of processor time that find took, for each face it was asked

  /// A face's, the median; NaN where none was asked.
  double microseconds() const;
};

/// A model, started from boxes of this convention. `stages` > 0 takes its first stages alone: one
/// is the linear regression of the paper's comparison.
FaceMethod model_method(std::string name, face::Model model, const face::BoxConvention& convention,
                        int stages = 0);
/// Predictions out of a file in any format of annotations, brought into the order of the truth.
FaceMethod predicted_method(std::string name, const face::Annotations& truth,
                            const face::Annotations& predictions);

/// NAME=PATH, or PATH, whose name then is the file's.
std::pair<std::string, std::filesystem::path> named_file(const std::string& text);

struct FaceRunOptions {
  /// How a face without a box gets one: from its true points as this model's detector would.
  std::optional<face::Model> model{};
  face::BoxConvention convention{};
  /// Searches the pictures with the convention's detector first.
  bool detect = false;
  std::uint64_t seed = 1;
  int threads = 0;  // to read and search pictures with; 0: all cores
  std::function<void(double share)> progress{};
};

struct FaceRun {
  int from_truth = 0;                   // faces that had no box
  std::vector<std::string> unreadable;  // pictures
};

/// Runs the methods on every true face; a face without a box gets one first. Pictures are read and
/// searched in parallel; finding is timed and so has the machine to itself. Methods without a
/// `find` are left as they are.
FaceRun run_methods(face::Annotations& truth, std::vector<FaceMethod>& methods,
                    const FaceRunOptions& options);

/// The faces by error, the worst first, at most `count`.
std::vector<std::size_t> worst_first(const face::Evaluation& result, int count);

/// The cumulative error curves up to the results' threshold.
report::LineChart error_curves(const std::vector<face::Evaluation>& results);

}  // namespace sdm::experiments
