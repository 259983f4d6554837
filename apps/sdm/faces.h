#pragma once

#include <filesystem>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "sdm/face/annotations.h"
#include "sdm/face/model.h"

namespace sdm::app {

// What the face commands share.

/// The model at `path`; where that is empty, face68.sdm out of $SDM_MODELS, the installed models or
/// the source tree. Throws: saying where it looked.
face::Model load_face_model(const std::string& path);

/// How to read the boxes of `detector`: as the model learned it (an empty name: its default), or by
/// `offset`: the face's unit in box widths and its centre's distance from the box's, in widths.
face::BoxConvention box_convention(const face::Model& model, const std::string& detector,
                                   const std::vector<float>& offset);

/// The files named, and every picture of the folders named and below, in order.
std::vector<std::filesystem::path> list_pictures(const std::vector<std::string>& names);

/// One face of a contact sheet.
struct SheetFace {
  std::filesystem::path picture;
  face::Shape truth, predicted;
  std::string caption;
};

/// The faces side by side: truth green, prediction red.
cv::Mat contact_sheet(const std::vector<SheetFace>& faces);

}  // namespace sdm::app
