#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "sdm/base/types.h"

namespace sdm::experiments {

/// The numeric matrices of a MATLAB 5 file without compression, by name; a field of a struct is
/// called struct.field. Throws Error naming the file and what is wrong with it.
std::map<std::string, Matrix<double>> read_mat_file(const std::filesystem::path& path);

}  // namespace sdm::experiments
