#include "io/platform.h"

#include <cerrno>

#if (defined(__unix__) || defined(__APPLE__)) && !defined(SDM_STANDARD_ONLY)

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
int flush_to_disk(std::FILE* file) { return std::fflush(file) == 0 ? 0 : errno; }
void flush_folder(const std::filesystem::path&) {}

}  // namespace sdm::io

#endif
