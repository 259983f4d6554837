#pragma once

#include <filesystem>
#include <string>

#include "sdm/io/model.h"
#include "sdm/rigid/tracker.h"

namespace sdm::rigid {

/// A tracker as a model of kind "rigid", and back. Throws Error on another kind or on parts that do
/// not fit together.
io::Model to_model(const TrackerModel& tracker, const std::string& provenance = {});
Tracker tracker_from_model(const io::Model& model);

/// The same as a file. Throws Error as io::write and io::read do.
void save(const TrackerModel& tracker, const std::filesystem::path& path,
          const std::string& provenance = {});
Tracker load_tracker(const std::filesystem::path& path);

}  // namespace sdm::rigid
