#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/bytes.h"

namespace sdm::io {

/// Reads a model file into memory. Errors begin with the path.
Model read(const std::filesystem::path& path, const Limits& limits = {});

/// Maps a model file: the tensors are pages of the file, shared between processes and kept alive by
/// the tensors themselves. Every checksum is verified first. The file must not be changed in place
/// while it is mapped; `write` replaces files and never changes one. Where the system cannot map
/// the file, this reads it.
Model map(const std::filesystem::path& path, const Limits& limits = {});

/// What `T::from_model` makes of a copy of a model file; errors begin with the path. Whoever wants
/// its pages shared says `T::from_model(io::map(path))` and keeps the file as it is.
template <class T>
T load(const std::filesystem::path& path) {
  const Model model = read(path);
  try {
    return T::from_model(model);
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

/// Writes a model file so that `path` holds the old file or the whole new one at every moment: a
/// temporary file in the same folder, flushed to the disk, then renamed. When it fails (disk full,
/// no permission) the old file is untouched, the temporary file is gone and the Error says why.
void write(const std::filesystem::path& path, const Model& model);

/// What is refused of a text file.
struct TextLimits {
  std::uint64_t bytes = std::uint64_t{1} << 28;
  double pipe_seconds = 10;  ///< how long a pipe may have nobody who writes
};

/// The whole of a file that is no model, as it is or as lines. Errors begin with the path.
std::string read_text(const std::filesystem::path& path, const TextLimits& limits = {});
TextLines read_lines(const std::filesystem::path& path, const TextLimits& limits = {});

/// Replaces a file as `write` does, without waiting for the disk: there may be thousands of them.
/// What is no regular file, such as a pipe or /dev/stdout, is written to.
void write_text(const std::filesystem::path& path, std::string_view text);

/// A file written piece by piece that takes its name, and the place of an old file, when it is
/// finished: until then, and if it never is, the old one stays. Errors begin with the path.
class OutputFile {
 public:
  enum class Target { any, regular };  ///< whether a pipe or a device may be written to

  explicit OutputFile(const std::filesystem::path& path, Target kind = Target::any);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  void write(std::string_view text);
  /// To be called once, last. `to_disk` waits until the file would outlast a power cut.
  void finish(bool to_disk = false);

 private:
  friend void io::write(const std::filesystem::path& path, const Model& model);
  class Temporary;
  std::filesystem::path path_, target_;
  std::unique_ptr<Temporary> temporary_;
};

}  // namespace sdm::io
