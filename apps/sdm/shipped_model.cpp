#include "apps/sdm/shipped_model.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <vector>

#include "apps/sdm/platform.h"
#include "sdm/base/error.h"

namespace sdm::app {

namespace fs = std::filesystem;

namespace {

// What cannot be looked at is none.
bool is_file(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none);
}

// Where to look, the first place first.
std::vector<fs::path> folders() {
  std::vector<fs::path> folders;
  const char* named = std::getenv("SDM_MODELS");
  if (named != nullptr && *named != '\0') folders.emplace_back(named);
  // Beside the program, not at a fixed prefix: an unpacked or moved package works too.
  const fs::path program = program_path();
  if (!program.empty()) folders.push_back(program.parent_path().parent_path() / "share/sdm");
  if (const std::string sources = SDM_SOURCE_MODELS; !sources.empty())
    folders.emplace_back(sources);
  return folders;
}

}  // namespace

fs::path shipped_file_or_none(const std::string& name) {
  for (const fs::path& folder : folders())
    if (is_file(folder / name)) return folder / name;
  return {};
}

fs::path shipped_file(const std::string& name) {
  if (fs::path found = shipped_file_or_none(name); !found.empty()) return found;
  std::string looked;
  for (const fs::path& folder : folders()) looked += (looked.empty() ? "" : ", ") + folder.string();
  throw Error(fmt::format("{}, which comes with sdm, is not in {}", name, looked));
}

fs::path model_file(const std::string& name) {
  fs::path path = name;
  // A name has neither folder nor ending; a file of that name goes first.
  if (path.has_parent_path() || path.has_extension() || is_file(path)) return path;
  fs::path shipped = shipped_file_or_none(name + ".sdm");
  return shipped.empty() ? path : shipped;
}

std::vector<fs::path> shipped_models() {
  std::map<std::string, fs::path> found;  // by name; the first folder goes first
  for (const fs::path& folder : folders()) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
      if (entry.path().extension() == ".sdm" && !entry.path().stem().has_extension() &&
          is_file(entry.path()))
        found.emplace(entry.path().stem().string(), entry.path());
  }
  std::vector<fs::path> files;
  for (const auto& one : found) files.push_back(one.second);
  return files;
}

}  // namespace sdm::app
