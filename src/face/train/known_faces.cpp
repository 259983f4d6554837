#include "face/train/known_faces.h"

namespace sdm::face {

KnownFaces KnownFaces::of(const std::vector<TrainingFace>& faces, Index points,
                          std::size_t detectors, detail::Ranks& ranks) {
  const Index width = 2 * points + 4 * static_cast<Index>(detectors);
  std::vector<float> numbers;
  for (const TrainingFace& face : faces) {
    numbers.insert(numbers.end(), face.truth.data(), face.truth.data() + face.truth.size());
    for (std::size_t d = 0; d < detectors; ++d) {
      const Box box = d < face.boxes.size() ? face.boxes[d] : Box{};
      numbers.insert(numbers.end(), {box.x, box.y, box.width, box.height});
    }
  }
  const std::vector<float> all = ranks.gather(numbers, width, kMostKnown);
  KnownFaces known;
  for (auto at = all.begin(); at != all.end(); at += width) {
    known.truths.push_back(Eigen::Map<const Shape>(&*at, 2, points));
    std::vector<Box>& boxes = known.boxes.emplace_back();
    for (std::size_t d = 0; d < detectors; ++d) {
      const auto box = at + 2 * points + 4 * static_cast<std::ptrdiff_t>(d);
      boxes.push_back({box[0], box[1], box[2], box[3]});
    }
  }
  return known;
}

}  // namespace sdm::face
