#include "apps/sdm/platform.h"

#include <csignal>

namespace sdm::app {
namespace {

volatile std::sig_atomic_t stop_asked = 0;
void ask_to_stop(int signal) {
  stop_asked = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

StopSignals::StopSignals()
    : interrupt_(std::signal(SIGINT, ask_to_stop)), terminate_(std::signal(SIGTERM, ask_to_stop)) {
  stop_asked = 0;
}
StopSignals::~StopSignals() {
  std::signal(SIGINT, interrupt_);
  std::signal(SIGTERM, terminate_);
}
bool StopSignals::asked() { return stop_asked != 0; }

}  // namespace sdm::app

#if (defined(__unix__) || defined(__APPLE__)) && !defined(SDM_STANDARD_ONLY)

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

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

std::string file_number(const std::filesystem::path& file) {
  struct stat info;
  if (::stat(file.c_str(), &info) != 0) return {};
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

void keep_standard_streams() {
  for (int number = 0; number <= 2; ++number)
    // Opened the wrong way round, so that using it fails as it would when closed. The lowest free
    // number is given.
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF &&
        ::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY) != number)
      return;
}

int error_of_writing_into(const std::filesystem::path& folder) {
  return ::access(folder.c_str(), W_OK) == 0 ? 0 : errno;
}

}  // namespace sdm::app

#else

namespace sdm::app {

std::filesystem::path program_path() { return {}; }
bool is_terminal(std::FILE*) { return false; }
std::string file_number(const std::filesystem::path&) { return {}; }
void keep_standard_streams() {}
int error_of_writing_into(const std::filesystem::path&) { return 0; }

}  // namespace sdm::app

#endif
