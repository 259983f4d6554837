#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace sdm::report {

/// NAME=PATH, or PATH, whose name then is the file's.
std::pair<std::string, std::filesystem::path> named_file(const std::string& text);

}  // namespace sdm::report
