#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/sdm/platform.h"

namespace sdm::app {

/// Lines of text that are on the disk when `append` returns; a line that was being written when the
/// power failed is left out when they are read again. One program at a time has it open.
class Journal {
 public:
  /// Reads it, and leaves it as it is until `replace`, which comes before the first `append`: it
  /// may be something else. Throws Error: it cannot be read, or another program has it open.
  explicit Journal(const std::filesystem::path& path);

  /// Whole lines as they were found.
  const std::vector<std::string>& lines() const { return lines_; }
  void append(const std::string& line);
  /// Begins anew with these lines; at every moment the file has the old ones or the new ones.
  void replace(const std::vector<std::string>& lines);
  /// Removes the file.
  void remove();

 private:
  std::filesystem::path path_;
  std::vector<std::string> lines_;
  FileLock lock_;  // of a file beside it, which stays the same when the journal is replaced
  AppendedFile file_;
};

}  // namespace sdm::app
