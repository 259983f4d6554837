#pragma once

#include <filesystem>
#include <vector>

namespace sdm::experiments {

/// Photographs that Debian's python-matplotlib-data and python3-skimage install, those that are
/// there. `installed_portraits` are the first of them, with a face each.
std::vector<std::filesystem::path> installed_photographs();
std::vector<std::filesystem::path> installed_portraits();

}  // namespace sdm::experiments
