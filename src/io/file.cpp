#include "sdm/io/file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/formatted.h"
#include "io/format.h"
#include "io/platform.h"
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

// Gives whether there is something. Throws: what is there is no regular file.
bool check_regular(const fs::path& path, std::string_view expected) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  if (type == fs::file_type::directory)
    throw Error(formatted("is a folder, expected a {}", expected));
  if (fs::exists(fs::file_status(type)) && type != fs::file_type::regular)
    throw Error(formatted("is not a regular file, expected a {}", expected));
  return type == fs::file_type::regular;
}

// Reads until `out` is full or the file ends; gives the number of bytes read.
std::size_t fill(std::ifstream& file, std::span<std::byte> out) {
  file.clear();
  file.seekg(0);
  errno = 0;
  file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  if (file.bad()) fail("read", errno);
  return static_cast<std::size_t>(file.gcount());
}

Model read_whole(const fs::path& path, const Limits& limits) {
  errno = 0;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) fail("open", errno);
  const auto size = static_cast<std::uint64_t>(std::streamoff{file.tellg()});
  // The start tells a foreign, cut or oversized file before memory is taken for the whole of it.
  std::array<std::byte, sizeof(Prelude)> start;
  read_prelude(std::span(start).first(fill(file, start)), size, limits);
  const auto buffer = allocate(static_cast<std::size_t>(size));
  const std::span<std::byte> bytes(buffer.get(), static_cast<std::size_t>(size));
  return parse(bytes.first(fill(file, bytes)), limits, buffer);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// A new file beside `target`, removed again unless it became `target`.
class Temporary {
 public:
  explicit Temporary(const fs::path& target) {
    // The number passes over the files of other writers and what a killed one left behind.
    for (int number = 0;; ++number) {
      path_ = target;
      path_ += formatted(".{}.tmp", number);
      file_ = std::fopen(path_.string().c_str(), "wbx");
      if (file_) break;
      if (errno != EEXIST)
        fail(formatted("create a file in the folder {}", folder_of(target).string()), errno);
    }
    std::setvbuf(file_, nullptr, _IONBF, 0);  // so that a full disk is told by the write
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (file_) std::fclose(file_);
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }
  void take_rights_of(const fs::path& other) {
    std::error_code ignored;
    fs::permissions(path_, fs::status(other, ignored).permissions(), ignored);
  }
  void write(std::span<const std::byte> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("write", errno);
  }
  void flush() {
    if (const int error = flush_to_disk(file_); error != 0) fail("write to the disk", error);
  }
  void become(const fs::path& target) {
    // Some file systems tell only here that the disk is full.
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("write to the disk", errno);
    std::error_code error;
    fs::rename(path_, target, error);
    if (error) fail("replace the old file", error.value());
    path_.clear();
  }

 private:
  fs::path path_;
  std::FILE* file_ = nullptr;
};

// A link stays a link: what it points to is replaced.
fs::path followed(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
}

}  // namespace

Model read(const fs::path& path, const Limits& limits) {
  return at(path, [&] {
    check_regular(path, "model file");
    return read_whole(path, limits);
  });
}

Model map(const fs::path& path, const Limits& limits) {
  return at(path, [&] {
    check_regular(path, "model file");
    const std::optional<Pages> pages = map_pages(path);
    return pages ? parse(pages->bytes, limits, pages->owner) : read_whole(path, limits);
  });
}

void write(const fs::path& path, const Model& model) {
  at(path, [&] {
    const fs::path target = followed(path);
    const bool replaces = check_regular(target, "file name");
    Temporary temporary(target);
    if (replaces) temporary.take_rights_of(target);
    serialize(model, [&](auto piece) { temporary.write(piece); });
    temporary.flush();
    temporary.become(target);
    // The file is whole already, so that a failure here is none.
    flush_folder(folder_of(target));
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
    std::error_code ignored;
    if (fs::is_other(fs::status(path, ignored))) {
      errno = 0;
      std::ofstream file(path, std::ios::binary);
      if (!file.write(text.data(), static_cast<std::streamsize>(text.size())).flush())
        fail("write", errno);
      return;
    }
    const fs::path target = followed(path);
    const bool replaces = check_regular(target, "file name");
    Temporary temporary(target);
    if (replaces) temporary.take_rights_of(target);
    temporary.write(std::as_bytes(std::span<const char>(text.data(), text.size())));
    temporary.become(target);
  });
}

}  // namespace sdm::io
