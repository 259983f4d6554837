#include "sdm/io/file.h"

#include "sdm/rigid/tracker.h"

namespace sdm::rigid {

void TrackerModel::save(const std::filesystem::path& path) const { io::write(path, to_model()); }

TrackerModel TrackerModel::load(const std::filesystem::path& path) {
  return io::load<TrackerModel>(path);
}

}  // namespace sdm::rigid
