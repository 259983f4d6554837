
#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/face/train/trainer.h"

namespace sdm::face {
namespace {

std::vector<StageRecipe> stages(int cells, const std::vector<float>& sizes, int redraws) {
  std::vector<StageRecipe> result;
  for (const float size : sizes)
    result.push_back({cells, size, static_cast<int>(result.size()) <= redraws});
  return result;
}

/// Stages of the parts, a round of them for each size of cells. Jaw and brows are told by the shape
/// more than by their patches, which look alike all along the contour: they are held back more.
void add_parts(int cells, const std::vector<float>& sizes, const FaceParts& parts,
               TrainerOptions& options) {
  struct Part {
    const std::vector<int>& points;
    float shape_scale;
    double penalty;
  };
  const Part all[] = {{parts.eyes, 0.6F, 0.12},
                      {parts.brows, 1, 0.3},
                      {parts.nose, 0.6F, 0.12},
                      {parts.mouth, 0.7F, 0.15},
                      {parts.jaw, 1, 0.3}};
  options.penalties.resize(options.recipe.stages.size(), options.penalties.back());
  for (const float size : sizes)
    for (const Part& part : all) {
      if (part.points.empty()) continue;
      options.recipe.stages.push_back({cells, size, false, part.points, part.shape_scale});
      options.penalties.push_back(part.penalty);
    }
}

}  // namespace

TrainerOptions TrainerOptions::preset(const std::string& name, const FaceParts& parts) {
  const bool in_parts = !parts.eyes.empty() || !parts.mouth.empty();
  TrainerOptions options;
  Recipe& recipe = options.recipe;
  if (name == "fast") {
    recipe.unit = 36;
    recipe.canvas = 2.3F;
    recipe.shape_weight = 8;
    recipe.stages =
        in_parts ? stages(3, {7.2F, 5.4F, 4.5F}, 1) : stages(3, {7.2F, 5.4F, 4.5F, 3.6F, 3.6F}, 1);
    options.penalties = {0.3};
    if (in_parts) add_parts(4, {2.6F}, parts, options);
    options.visibility = in_parts;
    options.rank = 24;
    options.starts = 6;
    options.box_starts = 4;
  } else if (name == "accurate") {
    recipe.unit = 70;
    recipe.canvas = 2.4F;
    recipe.shape_weight = 12;
    recipe.stages = in_parts ? stages(4, {11, 8, 6, 5}, 2) : stages(4, {11, 8, 6, 5, 4, 4}, 2);
    options.penalties = {0.3, 0.3, 0.4, 0.5};
    if (in_parts) add_parts(4, {4, 3.2F, 2.8F}, parts, options);
    options.visibility = in_parts;
    options.rank = 48;
    options.starts = 6;
    options.box_starts = 4;
  } else if (name == "paper") {
    recipe.unit = 50;
    recipe.shape_weight = 0;
    recipe.stages = stages(4, {8, 8, 8, 8}, 0);
    recipe.normalisation = image::Normalisation::l2;
    options.starts = 10;
    options.box_starts = 0;
    options.folds = 1;
    options.cross_fit = false;
    options.penalties = {1e-3};
    options.pca_energy = 0.98;
    options.robust = 0;
  } else {
    throw Error(formatted("the preset is '{}', expected accurate, fast or paper", name));
  }
  return options;
}

void TrainerOptions::validate() const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error(message);
  };
  recipe.validate();
  require(!detectors.empty(), "no detector is named, expected at least one");
  require(starts >= 1 && starts <= 1000,
          formatted("{} starts of each face, expected 1 to 1000", starts));
  require(box_starts >= 0, formatted("{} starts from boxes, expected 0 or more", box_starts));
  require(turned_weight >= 0 && turned_weight <= 100,
          formatted("a turned copy counts {}, expected 0 to 100", turned_weight));
  require(turned >= 0 && turned <= 100,
          formatted("{} turned copies of each face, expected 0 to 100", turned));
  require(!fresh || (turned == 0 && checkpoint.empty()),
          "faces that are new in every stage go neither with turned copies nor with a checkpoint");
  require(!penalties.empty(), "no penalty is given, expected at least one");
  require(robust >= 0, formatted("the robust error is {}, expected 0 or more", robust));
}

}  // namespace sdm::face
