#pragma once

#include <string>
#include <vector>

#include "sdm/face/model.h"

namespace sdm::app {

// What the face commands share: the model, and how its boxes are read.

/// The model at `path`; where that is empty, face68.sdm out of $SDM_MODELS, the installed models or
/// the source tree. Throws: saying where it looked.
face::Model load_face_model(const std::string& path);

/// How to read the boxes of `detector`: as the model learned it (an empty name: its default), or by
/// `offset`: the face's unit in box widths and its centre's distance from the box's, in widths.
/// Throws: a unit that is not positive, as wrong usage; a detector the model does not know.
face::BoxConvention box_convention(const face::Model& model, const std::string& detector,
                                   const std::vector<float>& offset);

}  // namespace sdm::app
