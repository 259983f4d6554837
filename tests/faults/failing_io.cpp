// Preloaded (LD_PRELOAD), it lets the call number SDM_FAIL_AT of these fail: write, close, fwrite,
// fflush, fclose, fsync, rename. The name of the call is then written to the file SDM_FAILED.

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> calls{0};

bool fails(const char* name) {
  static const long at = [] {
    const char* text = std::getenv("SDM_FAIL_AT");
    return text == nullptr ? 0L : std::atol(text);
  }();
  if (at == 0 || ++calls != at) return false;
  if (const char* path = std::getenv("SDM_FAILED")) {
    const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file >= 0) {
      if (::write(file, name, std::strlen(name)) < 0) std::abort();
      ::close(file);
    }
  }
  errno = ENOSPC;
  return true;
}

template <class F>
F* real(const char* name, F*) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

// FFmpeg's and the C++ library's; stdio has its own way to the system.
ssize_t write(int file, const void* data, std::size_t size) {
  static const auto next = real("write", &write);
  return fails("write") ? -1 : next(file, data, size);
}

int close(int file) {
  static const auto next = real("close", &close);
  const int result = next(file);
  return fails("close") ? -1 : result;
}

std::size_t fwrite(const void* data, std::size_t size, std::size_t count, std::FILE* file) {
  static const auto next = real("fwrite", &fwrite);
  return fails("fwrite") ? 0 : next(data, size, count, file);
}

int fflush(std::FILE* file) {
  static const auto next = real("fflush", &fflush);
  return fails("fflush") ? EOF : next(file);
}

int fclose(std::FILE* file) {
  static const auto next = real("fclose", &fclose);
  const int result = next(file);
  return fails("fclose") ? EOF : result;
}

int fsync(int file) {
  static const auto next = real("fsync", &fsync);
  return fails("fsync") ? -1 : next(file);
}

int rename(const char* from, const char* to) noexcept {
  static const auto next = real("rename", &rename);
  return fails("rename") ? -1 : next(from, to);
}
}
