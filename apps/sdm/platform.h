#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

namespace sdm::app {

// What the tool asks the operating system beyond standard C++. SDM_STANDARD_ONLY does without.

/// The file of the running program; empty where it cannot be known.
std::filesystem::path program_path();

/// Whether a person looks at what is written there.
bool is_terminal(std::FILE* file);

/// The number of a file's device and its own, the same for every path to it; empty where it cannot
/// be known.
std::string file_number(const std::filesystem::path& file);

/// Gives what was closed of stdin, stdout and stderr to nobody: else the next file to be opened
/// would be taken for it, and messages would be written into a model.
void keep_standard_streams();

/// Cores of this machine, and those of them that this process may use.
int cores_of_machine();
int usable_cores();

/// While it lives, the first SIGINT or SIGTERM only asks to stop; a second one ends the program.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  static bool asked();

 private:
  using Handler = void (*)(int);
  Handler interrupt_, terminate_;
};

/// A lock on a file, made where there is none, that ends with this object or the program. Where the
/// system has no locks it is always held.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return held_; }

 private:
  int number_ = -1;
  bool held_ = true;
};

/// A file that text is added to; what was added outlasts a power cut. Throws Error where that
/// fails, as on a full disk, and the file is as it was before; adding may be tried again.
class AppendedFile {
 public:
  AppendedFile() = default;
  ~AppendedFile() { close(); }
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;
  void open(const std::filesystem::path& file);
  void append(const std::string& text);
  void close();

 private:
  std::filesystem::path path_;
  std::uintmax_t size_ = 0;  // of what was added and what was there before
  std::FILE* file_ = nullptr;
};

/// Waits until a file that was written is on the disk, where the system tells.
void to_disk(const std::filesystem::path& file);

/// The error number that a new file in the folder would meet, 0 where none is known.
int error_of_writing_into(const std::filesystem::path& folder);

}  // namespace sdm::app
