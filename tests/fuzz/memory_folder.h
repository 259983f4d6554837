#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sdm::fuzz {

/// A folder of this process, gone when it ends; in memory, where the system can: a million files
/// are written, and some of them flushed to the disk.
inline const std::filesystem::path& memory_folder() {
  namespace fs = std::filesystem;
  static const fs::path& path = []() -> const fs::path& {
    const fs::path root = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    // Outlives what runs when the program ends.
    static const fs::path& made = *new fs::path(root / ("sdm_fuzz_" + std::to_string(::getpid())));
    fs::create_directories(made);
    std::atexit([] { fs::remove_all(made); });
    return made;
  }();
  return path;
}

}  // namespace sdm::fuzz
