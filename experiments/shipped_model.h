#pragma once

#include "sdm/face/model.h"

namespace sdm::experiments {

/// The face model that comes with the program: from $SDM_MODELS, the installed models or the
/// source's. Throws Error saying where it looked.
face::Model shipped_face_model();

}  // namespace sdm::experiments
