#pragma once

#include <filesystem>
#include <string>

#include "sdm/rigid/tracker.h"

namespace sdm::rigid {

/// A model file of a tracker, and back. Throws Error as io::write, io::read and tracker_from_model
/// do.
void save(const TrackerModel& tracker, const std::filesystem::path& path,
          const std::string& provenance = {});
Tracker load_tracker(const std::filesystem::path& path);

}  // namespace sdm::rigid
