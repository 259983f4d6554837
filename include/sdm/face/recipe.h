#pragma once

#include <cmath>
#include <vector>

#include "sdm/image/hog.h"

namespace sdm::face {

/// The points of a face's parts; none where they are not known.
struct FaceParts {
  std::vector<int> jaw, brows, nose, eyes, mouth;
};

/// What a stage looks at.
struct StageRecipe {
  int cells = 4;   // the patch of a point has cells x cells cells
  float cell = 8;  // side of a cell in canvas pixels
  /// Fit the similarity to the current shape and draw the canvas again before this stage. Patches
  /// then see every face upright and of the same size.
  bool redraw = true;
  /// The points whose patches the stage sees and which it moves, in ascending order: a part of the
  /// face (its mouth). A map of a part has fewer numbers to learn. Empty: all points.
  std::vector<int> points{};
  float shape_scale = 1;  // times the recipe's shape weight

  /// How many of a face's points it sees.
  Eigen::Index count(Eigen::Index all) const {
    return points.empty() ? all : static_cast<Eigen::Index>(points.size());
  }
};

/// How a model looks at a face, in training and in use.
///
/// The face is drawn on a square canvas by the similarity that brought the mean shape closest to
/// the current one. A stage's features are HoG patches on the canvas at the current points, and the
/// current shape (all points) less the mean shape, in face units, times `shape_weight`: what the
/// points so far say of one another.
struct Recipe {
  /// What a model may cost, whoever made it: the side of a canvas in pixels, and the pixels that
  /// all stages draw of one face (about 50 MB and half a second).
  static constexpr int kMaxCanvas = 1024;
  static constexpr int kMaxDrawn = 1 << 24;

  float unit = 40;         // canvas pixels for one unit of the face (the eyes' outer corners)
  float canvas = 2.6F;     // side of the canvas in units
  float shape_weight = 8;  // 0: patches alone
  image::Normalisation normalisation = image::Normalisation::sqrt_l1;
  bool subpixel = true;  // patches between pixels (image/hog.h)
  std::vector<StageRecipe> stages;
  /// How much larger each point's patches are; empty: all alike. Outlines need more around them.
  std::vector<float> patch_scale;

  int canvas_size() const { return static_cast<int>(std::lround(unit * canvas)); }
  image::HogOptions hog(int stage) const;
  /// The last stage that sees all points. There is always one: the first does.
  int last_whole_stage() const;
  /// Throws Error unless the parts are points of a face that has so many, both sides alike where
  /// there is a mirror.
  void require_parts(Eigen::Index all, const std::vector<int>& mirror) const;
  /// Throws Error naming the field that is out of range.
  void validate() const;
};

}  // namespace sdm::face
