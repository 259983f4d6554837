#include "sdm/io/file.h"

#include "sdm/face/adaptation.h"
#include "sdm/face/detector_model.h"
#include "sdm/face/model.h"

namespace sdm::face {

void Model::save(const std::filesystem::path& path) const { io::write(path, to_model()); }

Model Model::load(const std::filesystem::path& path) { return io::load<Model>(path); }

void DetectorModel::save(const std::filesystem::path& path) const { io::write(path, to_model()); }

DetectorModel DetectorModel::load(const std::filesystem::path& path) {
  return io::load<DetectorModel>(path);
}

void Adaptation::save(const std::filesystem::path& path) const { io::write(path, to_model()); }

Adaptation Adaptation::load(const std::filesystem::path& path) {
  return io::load<Adaptation>(path);
}

}  // namespace sdm::face
