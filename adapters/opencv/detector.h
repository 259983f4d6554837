#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sdm/face/shape.h"
#include "sdm/image/image_view.h"

namespace sdm::opencv {

/// Finds the faces of a grey picture, the largest first; none is a result. Anything that gives
/// boxes fits in. One detector a thread: a copy shares its state with the original.
using Detector = std::function<std::vector<face::Box>(image::ByteView grey)>;

struct DetectorOptions {
  /// Where the cascade files are. Empty: the environment's SDM_CASCADES, then where Debian's
  /// opencv-data and other usual installations have them.
  std::filesystem::path folder{};
  double scale_step = 1.1;  // ratio between the sizes tried
  int neighbours = 3;       // detections that must agree
  int min_size = 24;        // pixels
  /// Larger pictures are searched shrunk to this longest side, so that the time is bounded; faces
  /// under min_size there are not found.
  int max_side = 2000;
};

/// "haar_alt2" or "haar_default", OpenCV's frontal face cascades (the paper used OpenCV's), or the
/// path of any other cascade file.
/// Throws: another name; the cascade is not found (saying where it looked) or not a cascade.
Detector make_detector(const std::string& name, const DetectorOptions& options = {});

}  // namespace sdm::opencv
