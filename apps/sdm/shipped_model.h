#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sdm::app {

/// A file that comes with the program ("face68.sdm"): from $SDM_MODELS, share/sdm beside the
/// program's own folder, or the source's models. Throws Error saying where it looked.
std::filesystem::path shipped_file(const std::string& name);

/// The same, or an empty path where it is not there.
std::filesystem::path shipped_file_or_none(const std::string& name);

/// The file of a model that the user names: a path, or the name of a shipped one without its ending
/// ("face68-fast"). What is neither is a path, too: reading it will say so.
std::filesystem::path model_file(const std::string& name);

/// Every model that can be named so, in the order of their names; states of adaptation apart.
std::vector<std::filesystem::path> shipped_models();

}  // namespace sdm::app
