#include "apps/sdm/platform.h"

#if (defined(__unix__) || defined(__APPLE__)) && !defined(SDM_STANDARD_ONLY)

#include <unistd.h>

#include <cerrno>

#ifdef __APPLE__
#include <mach-o/dyld.h>

#include <cstdint>
#include <string>
#endif

namespace sdm::app {

std::filesystem::path program_path() {
#ifdef __APPLE__
  std::string path(4096, '\0');
  auto size = static_cast<std::uint32_t>(path.size());
  if (_NSGetExecutablePath(path.data(), &size) != 0) return {};
  std::error_code unknown;
  return std::filesystem::canonical(path.c_str(), unknown);
#else
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown);
#endif
}

bool is_terminal(std::FILE* file) { return ::isatty(::fileno(file)) != 0; }

int error_of_writing_into(const std::filesystem::path& folder) {
  return ::access(folder.c_str(), W_OK) == 0 ? 0 : errno;
}

}  // namespace sdm::app

#else

namespace sdm::app {

std::filesystem::path program_path() { return {}; }
bool is_terminal(std::FILE*) { return false; }
int error_of_writing_into(const std::filesystem::path&) { return 0; }

}  // namespace sdm::app

#endif
