#include "apps/sdm/output.h"

#include <fmt/format.h>

#include <system_error>

#include "apps/sdm/platform.h"
#include "sdm/base/error.h"

namespace sdm::app {

void prepare_output(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  if (fs::is_directory(file))
    throw Error(fmt::format("{}: is a folder, expected a file to write", file.string()));
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(fmt::format("cannot make the folder {}: {}", folder.string(), failed.message()));
  if (const int error = error_of_writing_into(folder); error != 0)
    throw Error(fmt::format("cannot write into {}: {}", folder.string(),
                            std::generic_category().message(error)));
}

}  // namespace sdm::app
