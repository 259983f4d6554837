#include "sdm/face/train/cross_validate.h"

#include <algorithm>
#include <map>

#include "base/formatted.h"
#include "face/starts.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/face/aligner.h"

namespace sdm::face {

std::vector<int> cross_validation_parts(const std::vector<TrainingFace>& faces, int parts,
                                        std::uint64_t seed) {
  std::vector<Index> groups;  // in the order of their first faces
  const auto group_of = [&](std::size_t i) {
    return faces[i].group < 0 ? static_cast<Index>(i) : faces[i].group;
  };
  for (std::size_t i = 0; i < faces.size(); ++i)
    if (std::find(groups.begin(), groups.end(), group_of(i)) == groups.end())
      groups.push_back(group_of(i));
  if (parts < 2 || static_cast<std::size_t>(parts) > groups.size())
    throw Error(
        formatted("{} parts to cross-validate, expected 2 to {}, the number of groups of pictures",
                  parts, groups.size()));
  Random random(seed, "cross-validation");
  shuffle(groups, random);
  std::map<Index, int> part_of;
  for (std::size_t g = 0; g < groups.size(); ++g) part_of[groups[g]] = static_cast<int>(g) % parts;
  std::vector<int> result;
  for (std::size_t i = 0; i < faces.size(); ++i) result.push_back(part_of[group_of(i)]);
  return result;
}

std::vector<Shape> cross_validate(const std::vector<TrainingFace>& faces,
                                  const std::vector<int>& parts, std::uint64_t seed,
                                  const Learn& learn) {
  std::vector<Shape> found(faces.size());
  const int count = *std::max_element(parts.begin(), parts.end()) + 1;
  for (int part = 0; part < count; ++part) {
    std::vector<TrainingFace> others;
    for (std::size_t i = 0; i < faces.size(); ++i)
      if (parts[i] != part) {
        others.push_back(faces[i]);
        if (faces[i].group < 0) others.back().group = static_cast<Index>(i);
      }
    // Else nothing could be held out within the part.
    if (std::all_of(others.begin(), others.end(),
                    [&](const TrainingFace& face) { return face.group == others.front().group; }))
      for (TrainingFace& face : others) face.group = -1;
    const Model model = learn(others, part);
    Aligner aligner(model);
    for (std::size_t i = 0; i < faces.size(); ++i) {
      if (parts[i] != part) continue;
      const TrainingFace& face = faces[i];
      const bool has_box = !face.boxes.empty() && face.boxes.front().width > 0;
      Random random(seed, "cross-validation starts", i);
      const Similarity start =
          has_box ? model.convention().similarity(face.boxes.front())
                  : detected_start(face.truth, model.mean, model.convention(), random);
      found[i] = aligner.align_from(face.picture, start).points;
    }
  }
  return found;
}

}  // namespace sdm::face
