#include "apps/sdm/output.h"

#include <fmt/format.h>

#include <system_error>

#include "apps/sdm/platform.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

// Equal for two paths of one file, whether it is there or not. Empty: nothing that could be lost.
std::string identity_of(const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::is_other(status) || fs::is_directory(status)) return {};
  if (fs::exists(status))
    if (std::string number = file_number(file); !number.empty()) return number;
  const fs::path place = fs::weakly_canonical(file, ignored);
  return (place.empty() ? fs::absolute(file, ignored) : place).string();
}

}  // namespace

Outputs& Outputs::reads(const fs::path& file) {
  const std::string identity = file.empty() ? std::string() : identity_of(file);
  if (identity.empty()) return *this;
  const auto [found, is_new] = files_.emplace(identity, false);
  if (!is_new && found->second)
    throw Error(fmt::format("{}: is an input, which would be overwritten", file.string()));
  return *this;
}

Outputs& Outputs::reads(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) reads(file);
  return *this;
}

Outputs& Outputs::may_read(const std::string& name) {
  std::error_code ignored;
  return fs::exists(name, ignored) ? reads(name) : *this;
}

Outputs& Outputs::writes(const fs::path& file, Kind kind) {
  if (file.empty()) return *this;
  check(file, kind);
  const std::string identity = identity_of(file);
  if (identity.empty()) return *this;
  const auto [found, is_new] = files_.emplace(identity, true);
  if (!is_new)
    throw Error(fmt::format("{}: is {}", file.string(),
                            found->second ? "another output too, expected a file for each"
                                          : "an input, which would be overwritten"));
  return *this;
}

void Outputs::check(const fs::path& file, Kind kind) {
  std::error_code failed;
  const fs::file_status status = fs::status(file, failed);
  if (fs::is_directory(status))
    throw Error(fmt::format("{}: is a folder, expected a file to write", file.string()));
  if (fs::is_other(status)) {
    if (kind == Kind::stream) return;
    throw Error(fmt::format("{}: is not a regular file, expected a file to write", file.string()));
  }
  if (!is_utf8(file.string())) throw Error(fmt::format("{}: the name is not UTF-8", file.string()));
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (writable_.contains(folder)) return;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(fmt::format("cannot make the folder {}: {}", folder.string(), failed.message()));
  if (const int error = error_of_writing_into(folder); error != 0)
    throw Error(fmt::format("cannot write into {}: {}", folder.string(),
                            std::generic_category().message(error)));
  if (const fs::space_info space = fs::space(folder, failed); !failed && space.available == 0)
    throw Error(fmt::format("cannot write into {}: its disk is full", folder.string()));
  writable_.insert(folder);
}

}  // namespace sdm::app
