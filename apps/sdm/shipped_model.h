#pragma once

#include <filesystem>
#include <string>

#include "sdm/face/model.h"

namespace sdm::app {

/// A file that comes with the program ("face68.sdm"): from $SDM_MODELS, share/sdm beside the
/// program's own folder, or the source's models. Throws Error saying where it looked.
std::filesystem::path shipped_file(const std::string& name);

/// The same, or an empty path where it is not there.
std::filesystem::path shipped_file_or_none(const std::string& name);

/// The default face model.
face::Model shipped_face_model();

}  // namespace sdm::app
