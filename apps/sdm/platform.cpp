#include "apps/sdm/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

#include "sdm/base/error.h"

namespace sdm::app {

bool flush_to_disk(std::FILE* file);  // below, for each system

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

void AppendedFile::open(const std::filesystem::path& file) {
  close();
  path_ = file;
  file_ = std::fopen(file.string().c_str(), "ab");
  if (file_ == nullptr)
    throw Error(fmt::format("{}: cannot be written: {}", file.string(),
                            std::generic_category().message(errno)));
  std::setvbuf(file_, nullptr, _IONBF, 0);  // nothing is left to be written later
  std::error_code no_file;                  // a device
  size_ = std::filesystem::file_size(file, no_file);
}

void AppendedFile::append(const std::string& text) {
  if (file_ == nullptr) open(path_);
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), file_) == text.size() && flush_to_disk(file_)) {
    size_ += text.size();
    return;
  }
  const int error = errno == 0 ? EIO : errno;
  close();
  std::error_code ignored;  // what was half written would spoil what comes next
  std::filesystem::resize_file(path_, size_, ignored);
  throw Error(fmt::format("{}: cannot be written: {}", path_.string(),
                          std::generic_category().message(error)));
}

void AppendedFile::close() {
  if (file_ != nullptr) std::fclose(file_);
  file_ = nullptr;
}

}  // namespace sdm::app

#if (defined(__unix__) || defined(__APPLE__)) && !defined(SDM_STANDARD_ONLY)

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

int cores_of_machine() { return std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN))); }

int usable_cores() {
#ifdef __linux__
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return cores_of_machine();
}

FileLock::FileLock(const std::filesystem::path& file)
    : number_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (number_ < 0)
    throw Error(fmt::format("{}: cannot be written: {}", file.string(),
                            std::generic_category().message(errno)));
  held_ = ::flock(number_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}
FileLock::~FileLock() { ::close(number_); }

bool flush_to_disk(std::FILE* file) { return ::fsync(::fileno(file)) == 0; }

void to_disk(const std::filesystem::path& file) {
  const int number = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) return;
  ::fsync(number);
  ::close(number);
}

}  // namespace sdm::app

#else

namespace sdm::app {

std::filesystem::path program_path() { return {}; }
bool is_terminal(std::FILE*) { return false; }
std::string file_number(const std::filesystem::path&) { return {}; }
void keep_standard_streams() {}
int error_of_writing_into(const std::filesystem::path&) { return 0; }
int cores_of_machine() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}
int usable_cores() { return cores_of_machine(); }
FileLock::FileLock(const std::filesystem::path&) {}
FileLock::~FileLock() = default;
bool flush_to_disk(std::FILE*) { return true; }
void to_disk(const std::filesystem::path&) {}

}  // namespace sdm::app

#endif
