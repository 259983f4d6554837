#include "sdm/face/recipe.h"

#include <cstdint>

#include "base/formatted.h"
#include "face/mirror.h"
#include "sdm/base/error.h"

namespace sdm::face {

image::HogOptions Recipe::hog(int stage) const {
  const StageRecipe& at = stages[static_cast<std::size_t>(stage)];
  image::HogOptions options;
  options.cells = at.cells;
  options.cell = at.cell;
  options.subpixel = subpixel;
  options.normalisation = normalisation;
  return options;
}

int Recipe::last_whole_stage() const {
  auto stage = static_cast<int>(stages.size()) - 1;
  while (stage > 0 && !stages[static_cast<std::size_t>(stage)].points.empty()) --stage;
  return stage;
}

void Recipe::require_parts(Eigen::Index all, const std::vector<int>& mirror) const {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    int before = -1;
    for (const int point : stages[i].points) {
      if (point <= before || point >= all)
        throw Error(
            formatted("stage {} sees point {} after point {}, expected ascending numbers below {}",
                      i, point, before, all));
      before = point;
    }
    if (!mirror.empty()) part_mirror(stages[i].points, mirror);
  }
}

void Recipe::validate() const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error(message);
  };
  require(unit >= 8 && unit <= 512,
          formatted("the canvas has {} px a unit, expected 8 to 512", unit));
  require(canvas >= 1 && canvas <= 8,
          formatted("the canvas is {} units wide, expected 1 to 8", canvas));
  require(canvas_size() <= kMaxCanvas,
          formatted("the canvas is {} px wide, expected at most {}", canvas_size(), kMaxCanvas));
  require(shape_weight >= 0 && shape_weight <= 1e4F,
          formatted("the shape weight is {}, expected 0 to 10000", shape_weight));
  require(!stages.empty() && stages.size() <= 64,
          formatted("the recipe has {} stages, expected 1 to 64", stages.size()));
  require(stages.front().points.empty(),
          formatted("the first stage sees {} points, expected all: later ones may see a part",
                    stages.front().points.size()));
  std::int64_t drawn = 0;
  for (const StageRecipe& stage : stages)
    if (stage.redraw) drawn += std::int64_t{canvas_size()} * canvas_size();
  require(drawn <= kMaxDrawn,
          formatted("the stages draw {} pixels of a face, expected at most {}", drawn, kMaxDrawn));
  for (std::size_t i = 0; i < stages.size(); ++i) {
    require(stages[i].shape_scale >= 0 && stages[i].shape_scale <= 1e3F,
            formatted("the shape of stage {} is scaled by {}, expected 0 to 1000", i,
                      stages[i].shape_scale));
    image::HogOptions options = hog(static_cast<int>(i));
    options.validate();
    for (const float scale : patch_scale) {
      require(scale >= 0.25F && scale <= 4,
              formatted("the patch of a point is scaled by {}, expected 0.25 to 4", scale));
      options.cell = scale * stages[i].cell;
      options.validate();
    }
  }
}

}  // namespace sdm::face
