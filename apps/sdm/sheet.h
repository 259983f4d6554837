#pragma once

#include <filesystem>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "sdm/face/shape.h"

namespace sdm::app {

/// One face of a contact sheet.
struct SheetFace {
  std::filesystem::path picture;
  face::Shape truth, predicted;
  std::string caption;
};

/// The faces side by side: truth green, prediction red.
cv::Mat contact_sheet(const std::vector<SheetFace>& faces);

/// The same larger, with the numbers of the true points, counted from 0.
cv::Mat numbered_sheet(const std::vector<SheetFace>& faces);

}  // namespace sdm::app
