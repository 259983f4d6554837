#include "sdm/io/file.h"

#include "sdm/face/adaptation.h"
#include "sdm/face/model.h"

namespace sdm::face {

Model Model::load(const std::filesystem::path& path) { return from(io::map(path)); }

void Model::save(const std::filesystem::path& path) const { io::write(path, to_io()); }

Adaptation Adaptation::load(const std::filesystem::path& path) { return from(io::read(path)); }

void Adaptation::save(const std::filesystem::path& path) const { io::write(path, to_io()); }

}  // namespace sdm::face
