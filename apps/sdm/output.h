#pragma once

#include <filesystem>

namespace sdm::app {

/// Makes the folder of a file that a long job will write at its end, and throws Error if the file
/// could not be written there: better told before the job than after it.
void prepare_output(const std::filesystem::path& file);

}  // namespace sdm::app
