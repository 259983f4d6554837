#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/registry.h"
#include "sdm/face/detector.h"

namespace sdm::experiments {

/// Something that finds faces: for each a place to start the landmarks from. `smallest` is the
/// least face that it looks for, in pixels of its own box.
struct Finder {
  std::string name;
  std::function<std::vector<face::Similarity>(image::ByteView grey)> find;
};

/// What the finders share; it must outlive them.
struct FinderModels {
  face::DetectorModel detector;
  face::Model accurate, fast;

  explicit FinderModels(const ExperimentContext& context);
};

inline constexpr char kOurs[] = "sdm", kHaar[] = "Haar alt2", kDlibHog[] = "dlib HoG";

/// Ours, Haar alt2 and dlib's HoG detector (on pictures of twice the size, for its smallest face is
/// of 80 px), and the YuNet networks among the peers (NAME=FILE.onnx). One that is not installed is
/// left out and told.
std::vector<Finder> make_finders(const ExperimentContext& context, const FinderModels& models,
                                 float smallest);

/// dlib's own; none in a program built without dlib.
std::optional<Finder> dlib_finder(const face::Model& model);

}  // namespace sdm::experiments
