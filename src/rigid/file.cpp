#include "sdm/rigid/file.h"

#include "sdm/io/file.h"

namespace sdm::rigid {

void save(const TrackerModel& tracker, const std::filesystem::path& path,
          const std::string& provenance) {
  io::write(path, to_model(tracker, provenance));
}

Tracker load_tracker(const std::filesystem::path& path) {
  return tracker_from_model(io::read(path));
}

}  // namespace sdm::rigid
