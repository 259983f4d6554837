#include "sdm/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "base/formatted.h"
#include "io/format.h"
#include "sdm/base/error.h"

namespace sdm::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string_view action, int error) {
  throw Error(formatted("cannot {}: {}", action, std::generic_category().message(error)));
}

// Puts the path before every message of `f`.
template <class F>
auto at(const fs::path& path, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(formatted("{}: {}", path.string(), error.what()));
  }
}

class File {
 public:
  File(const fs::path& path, int flags, mode_t mode = 0)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  // Some file systems tell only here that the disk is full.
  int close() { return ::close(std::exchange(descriptor_, -1)); }

 private:
  int descriptor_;
};

struct Mapping {
  void* address;
  std::size_t size;
  ~Mapping() { ::munmap(address, size); }
};

// Reads until `out` is full or the file ends; gives the number of bytes read.
std::size_t fill(const File& file, std::span<std::byte> out, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto n = ::pread(file.get(), out.data() + done, out.size() - done,
                           static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read", errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

std::uint64_t checked_size(const File& file, const Limits& limits) {
  if (!file.is_open()) fail("open", errno);
  struct stat info;
  if (::fstat(file.get(), &info) != 0) fail("read", errno);
  if (S_ISDIR(info.st_mode)) throw Error("is a folder, expected a model file");
  if (!S_ISREG(info.st_mode)) throw Error("is not a regular file, expected a model file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  // The start tells a foreign, cut or oversized file before memory is taken for the whole of it.
  std::array<std::byte, sizeof(Prelude)> start;
  const std::size_t n = fill(file, start, 0);
  read_prelude(std::span(start).first(n), size, limits);
  return size;
}

void write_all(const File& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// A new file beside `target`, removed again unless it became `target`.
class Temporary {
 public:
  explicit Temporary(const fs::path& target) {
    // The process id keeps writers apart; the number passes over what a killed process left behind.
    for (int number = 0;; ++number) {
      path_ = target;
      path_ += formatted(".{}-{}.tmp", ::getpid(), number);
      file_.emplace(path_, O_WRONLY | O_CREAT | O_EXCL, mode_t{0666});
      if (file_->is_open()) return;
      if (errno != EEXIST)
        fail(formatted("create a file in the folder {}", folder_of(target).string()), errno);
    }
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  File& file() { return *file_; }
  void flush() {
    if (::fsync(file_->get()) != 0) fail("write to the disk", errno);
  }
  void become(const fs::path& target) {
    if (file_->close() != 0) fail("write to the disk", errno);
    if (::rename(path_.c_str(), target.c_str()) != 0) fail("replace the old file", errno);
    path_.clear();
  }

 private:
  fs::path path_;
  std::optional<File> file_;
};

// What stands where a file will be written.
struct Target {
  explicit Target(const fs::path& name) : path(name) {
    struct stat old;
    exists = ::stat(name.c_str(), &old) == 0;
    if (exists) mode = old.st_mode;
    if (exists && S_ISDIR(mode)) throw Error("is a folder, expected a file name");
    // A link stays a link: what it points to is replaced.
    std::error_code ignored;
    if (replaceable() && fs::is_symlink(name, ignored)) path = fs::weakly_canonical(name, ignored);
  }
  // Nothing, or a file that another may take the place of.
  bool replaceable() const { return !exists || S_ISREG(mode); }
  void keep_mode(const File& file) const {
    if (exists) ::fchmod(file.get(), mode & 07777);
  }

  fs::path path;
  bool exists = false;
  mode_t mode = 0;
};

}  // namespace

Model read(const fs::path& path, const Limits& limits) {
  return at(path, [&] {
    const File file(path, O_RDONLY);
    const auto size = static_cast<std::size_t>(checked_size(file, limits));
    const auto buffer = allocate(size);
    const std::span<std::byte> bytes(buffer.get(), size);
    return parse(bytes.first(fill(file, bytes, 0)), limits, buffer);
  });
}

Model map(const fs::path& path, const Limits& limits) {
  return at(path, [&] {
    const File file(path, O_RDONLY);
    const auto size = static_cast<std::size_t>(checked_size(file, limits));
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (address == MAP_FAILED) fail("map", errno);
    const std::shared_ptr<const Mapping> mapping(new Mapping{address, size});
    return parse({static_cast<const std::byte*>(address), size}, limits, mapping);
  });
}

void write(const fs::path& path, const Model& model) {
  at(path, [&] {
    const Target target(path);
    if (!target.replaceable()) throw Error("is not a regular file and cannot be replaced");
    Temporary temporary(target.path);
    target.keep_mode(temporary.file());
    serialize(model, [&](auto piece) { write_all(temporary.file(), piece); });
    temporary.flush();
    temporary.become(target.path);
    // Makes the new name itself last through a power cut. The file is whole already, and some file
    // systems refuse this for folders, so a failure here is none.
    if (const File parent(folder_of(target.path), O_RDONLY | O_DIRECTORY); parent.is_open())
      ::fsync(parent.get());
  });
}

std::string read_text(const fs::path& path) {
  return at(path, [&] {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) throw Error("is a folder, expected a file");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
      throw Error(
          formatted("cannot be opened for reading: {}", std::generic_category().message(errno)));
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) fail("read", errno);
    return text;
  });
}

TextLines read_lines(const fs::path& path) { return {path.string(), read_text(path)}; }

void write_text(const fs::path& path, std::string_view text) {
  at(path, [&] {
    const Target target(path);
    if (!target.replaceable()) {
      errno = 0;
      std::ofstream file(target.path, std::ios::binary);
      if (!file.write(text.data(), static_cast<std::streamsize>(text.size())).flush())
        fail("write", errno);
      return;
    }
    Temporary temporary(target.path);
    target.keep_mode(temporary.file());
    write_all(temporary.file(), std::as_bytes(std::span(text)));
    temporary.become(target.path);
  });
}

}  // namespace sdm::io
