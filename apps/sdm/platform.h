#pragma once

#include <cstdio>
#include <filesystem>

namespace sdm::app {

// What the tool asks the operating system beyond standard C++. SDM_STANDARD_ONLY does without.

/// The file of the running program; empty where it cannot be known.
std::filesystem::path program_path();

/// Whether a person looks at what is written there.
bool is_terminal(std::FILE* file);

/// The error number that a new file in the folder would meet, 0 where none is known.
int error_of_writing_into(const std::filesystem::path& folder);

}  // namespace sdm::app
