#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace sdm::io {

// What files need of the operating system beyond standard C++. SDM_STANDARD_ONLY does without.

/// The pages of a file, kept alive by `owner`.
struct Pages {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// None where a file cannot be opened or mapped: reading it then works, or says why it does not.
std::optional<Pages> map_pages(const std::filesystem::path& path);

/// What comes through a pipe to its end, at most `most + 1` bytes. None where the path is no pipe.
/// Gives no text but an error number where it cannot be read: ETIMEDOUT where nobody opened it for
/// writing within `seconds`.
struct PipeText {
  std::string text;
  int error = 0;
};
std::optional<PipeText> read_pipe(const std::filesystem::path& path, std::uint64_t most,
                                  double seconds);

/// Waits until the disk has what was written. Gives the error number, 0 for success.
int flush_to_disk(std::FILE* file);

/// Makes the names in a folder last through a power cut, where the file system can do that.
void flush_folder(const std::filesystem::path& folder);

}  // namespace sdm::io
