#include "sdm/io/file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
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

// A link stays a link: what it points to is replaced.
fs::path followed(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
}

}  // namespace

// A new file beside its target, removed again unless it became the target.
class OutputFile::Temporary {
 public:
  struct Itself {};  // no file that can be replaced: a pipe, a device

  explicit Temporary(const fs::path& target) {
    // The number passes over the files of other writers and what a killed one left behind.
    for (int number = 0;; ++number) {
      path_ = target;
      path_ += formatted(".{}.tmp", number);
      file_ = std::fopen(path_.string().c_str(), "wbx");
      if (file_) break;
      if (errno != EEXIST) {
        path_.clear();
        fail(formatted("create a file in the folder {}", folder_of(target).string()), errno);
      }
    }
    std::setvbuf(file_, nullptr, _IONBF, 0);  // so that a full disk is told by the write
  }
  Temporary(Itself, const fs::path& target) : file_(std::fopen(target.string().c_str(), "wb")) {
    if (!file_) fail("write", errno);
    std::setvbuf(file_, nullptr, _IONBF, 0);
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
  void write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("write", errno);
  }
  void flush() {
    if (const int error = flush_to_disk(file_); error != 0) fail("write to the disk", error);
  }
  void become(const fs::path& target) {
    // Some file systems tell only here that the disk is full.
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("write to the disk", errno);
    if (path_.empty()) return;
    std::error_code error;
    fs::rename(path_, target, error);
    if (error) fail("replace the old file", error.value());
    path_.clear();
  }

 private:
  fs::path path_;
  std::FILE* file_ = nullptr;
};

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
  OutputFile file(path, OutputFile::Target::regular);
  at(path, [&] {
    serialize(model, [&](std::span<const std::byte> piece) {
      file.temporary_->write({reinterpret_cast<const char*>(piece.data()), piece.size()});
    });
  });
  file.finish(true);
}

std::string read_text(const fs::path& path, const TextLimits& limits) {
  return at(path, [&] {
    const auto too_long = [&] {
      return Error(formatted("has more than {} bytes, the limit of a text file", limits.bytes));
    };
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) throw Error("is a folder, expected a file");
    if (fs::is_fifo(path, ignored)) {
      if (auto pipe = read_pipe(path, limits.bytes, limits.pipe_seconds)) {
        if (pipe->error == ETIMEDOUT)
          throw Error(
              formatted("is a pipe into which nobody writes; waited {} s", limits.pipe_seconds));
        if (pipe->error != 0) fail("read", pipe->error);
        if (pipe->text.size() > limits.bytes) throw too_long();
        return std::move(pipe->text);
      }
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
      throw Error(
          formatted("cannot be opened for reading: {}", std::generic_category().message(errno)));
    std::string text;
    std::array<char, 65536> buffer;
    while (file) {
      file.read(buffer.data(), buffer.size());
      text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
      if (text.size() > limits.bytes) throw too_long();
    }
    if (file.bad()) fail("read", errno);
    return text;
  });
}

TextLines read_lines(const fs::path& path, const TextLimits& limits) {
  return {path.string(), read_text(path, limits)};
}

void write_text(const fs::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.finish();
}

OutputFile::OutputFile(const fs::path& path, Target kind) : path_(path) {
  at(path_, [&] {
    std::error_code ignored;
    if (kind == Target::any && fs::is_other(fs::status(path_, ignored))) {
      temporary_ = std::make_unique<Temporary>(Temporary::Itself(), path_);
      return;
    }
    target_ = followed(path_);
    const bool replaces = check_regular(target_, "file name");
    temporary_ = std::make_unique<Temporary>(target_);
    if (replaces) temporary_->take_rights_of(target_);
  });
}

OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

void OutputFile::write(std::string_view text) {
  at(path_, [&] { temporary_->write(text); });
}

void OutputFile::finish(bool to_disk) {
  at(path_, [&] {
    if (to_disk) temporary_->flush();
    temporary_->become(target_);
    // The file is whole already, so that a failure here is none.
    if (to_disk) flush_folder(folder_of(target_));
  });
}

}  // namespace sdm::io
