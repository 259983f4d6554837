#include "adapters/peers/wings.h"

#include <algorithm>

#include "sdm/face/data/annotations.h"

namespace sdm::peers {

std::vector<face::TrainingFace> read_wings(const std::filesystem::path& folder,
                                           const face::PictureReader& read) {
  face::ReadOptions reading;
  reading.pictures = folder / "images";
  reading.size_of = [&](const std::filesystem::path& path) {
    const image::Image<std::uint8_t> picture = read(path);
    return face::PictureSize{picture.width(), picture.height()};
  };
  face::Annotations wings = face::read_tps(folder / "wings.tps", reading);
  std::stable_sort(
      wings.faces.begin(), wings.faces.end(),
      [](const face::Annotation& a, const face::Annotation& b) { return a.file < b.file; });
  std::vector<face::TrainingFace> faces;
  for (const face::Annotation& wing : wings.faces) {
    face::TrainingFace face;
    face.picture = read(wings.path(wing));
    face.truth = wing.points;
    face.boxes = {{0, 0, float(face.picture.width()), float(face.picture.height())}};
    faces.push_back(std::move(face));
  }
  return faces;
}

}  // namespace sdm::peers
