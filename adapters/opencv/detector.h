#pragma once

#include <filesystem>
#include <string>

#include "sdm/face/box_detector.h"
#include "sdm/face/model.h"

namespace sdm::opencv {

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

  /// Throws Error naming the option that is out of range.
  void validate() const;
};

/// "haar_alt2" or "haar_default", OpenCV's frontal face cascades (the paper used OpenCV's), or the
/// path of any other cascade file (.xml) or of a YuNet network (.onnx), which OpenCV's dnn runs;
/// of the options it takes the sizes. A copy shares its state with the original.
/// Throws: an option out of range; another name; the cascade is not found (saying where it looked)
/// or not a cascade; a network that OpenCV cannot load.
face::BoxDetector make_detector(const std::string& name, const DetectorOptions& options = {});

/// How the boxes of YuNet lie around faces of the 68 points, as measured on 520 photographs.
face::BoxConvention yunet_convention();

}  // namespace sdm::opencv
