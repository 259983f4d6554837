#include "experiments/shipped_model.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "sdm/error.h"

namespace sdm::experiments {

face::Model shipped_face_model() {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  if (const char* named = std::getenv("SDM_MODELS")) folders.emplace_back(named);
  folders.insert(folders.end(), {SDM_INSTALLED_MODELS, SDM_SOURCE_MODELS, "models"});
  std::string looked;
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / "face68.sdm")) return face::Model::load(folder / "face68.sdm");
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  throw Error(fmt::format("the shipped model face68.sdm is not in {}", looked));
}

}  // namespace sdm::experiments
