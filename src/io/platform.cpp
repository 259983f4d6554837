#include "io/platform.h"

#include <cerrno>

#if (defined(__unix__) || defined(__APPLE__)) && !defined(SDM_STANDARD_ONLY)

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

namespace sdm::io {
namespace {

struct Descriptor {
  int number;
  Descriptor(const std::filesystem::path& path, int flags)
      : number(::open(path.c_str(), flags | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

std::optional<Pages> map_pages(const std::filesystem::path& path) {
  const Descriptor file(path, O_RDONLY);
  struct stat info;
  if (file.number < 0 || ::fstat(file.number, &info) != 0 || info.st_size <= 0) return {};
  const auto size = static_cast<std::size_t>(info.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number, 0);
  if (address == MAP_FAILED) return {};
  return Pages{{static_cast<const std::byte*>(address), size},
               std::shared_ptr<const void>(address, [size](void* p) { ::munmap(p, size); })};
}

std::optional<PipeText> read_pipe(const std::filesystem::path& path, std::uint64_t most,
                                  double seconds) {
  // Else the opening itself waits for a writer.
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  struct stat info;
  if (file.number < 0 || ::fstat(file.number, &info) != 0 || !S_ISFIFO(info.st_mode)) return {};
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  PipeText result;
  bool written = false;  // somebody has opened it for writing
  char buffer[65536];
  while (result.text.size() <= most) {
    const ssize_t count = ::read(file.number, buffer, sizeof buffer);
    if (count > 0) {
      result.text.append(buffer, static_cast<std::size_t>(count));
      written = true;
    } else if (count == 0) {  // no writer: the end, or not begun
      if (written) break;
      if (std::chrono::duration<double>(Clock::now() - start).count() > seconds) {
        result.error = ETIMEDOUT;
        break;
      }
      ::usleep(1000);
    } else if (errno == EAGAIN) {
      written = true;
      pollfd wait{file.number, POLLIN, 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      result.error = errno;
      break;
    }
  }
  return result;
}

int flush_to_disk(std::FILE* file) {
  return std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0 ? 0 : errno;
}

void flush_folder(const std::filesystem::path& folder) {
  if (const Descriptor file(folder, O_RDONLY | O_DIRECTORY); file.number >= 0) ::fsync(file.number);
}

}  // namespace sdm::io

#else

namespace sdm::io {

std::optional<Pages> map_pages(const std::filesystem::path&) { return {}; }
std::optional<PipeText> read_pipe(const std::filesystem::path&, std::uint64_t, double) {
  return {};
}
int flush_to_disk(std::FILE* file) { return std::fflush(file) == 0 ? 0 : errno; }
void flush_folder(const std::filesystem::path&) {}

}  // namespace sdm::io

#endif
