#pragma once

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

/// The error number that a new file in the folder would meet, 0 where none is known.
int error_of_writing_into(const std::filesystem::path& folder);

}  // namespace sdm::app
