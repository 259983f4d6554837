#pragma once

#include <array>
#include <vector>

#include "render/field.h"
#include "sdm/render/head_model.h"
#include "sdm/render/rasteriser.h"

namespace sdm::render {

/// How far inside of the mesh's ring of points the upper lip's edge is, of the lip's height.
inline constexpr float kLipEdge = 0.22F;

/// The head unrolled: a cylinder about the vertical axis, on which faces are painted. Places are
/// those of the neutral head, so paint moves with the skin.
struct Layout {
  static constexpr int kWidth = 560, kHeight = 420;
  static constexpr float kReach = 125;              // degrees to either side
  static constexpr float kTop = 13, kBottom = -17;  // cm
  static constexpr float kAxis = 1;                 // its z
  static constexpr float kPerCm = kHeight / (kTop - kBottom);

  explicit Layout(const HeadModel& head);

  /// Where a point of the neutral head is on the canvas.
  static Eigen::Vector2f place(const Eigen::Vector3f& point);
  /// The skin at a place; the nearest one where there is none.
  SurfacePoint skin_at(float u, float v) const;

  Eigen::Matrix2Xf places;  // of every vertex
  Raster skin;              // what of the head is where; triangles of the model
  std::vector<Triangle> triangles;
  Field x, y, z;  // the neutral head at every pixel; 0 where there is none
  Field covered;  // 1 where there is skin
  // How much of a pixel is lip, beard, under the eye, along the fold from nose to mouth, neck.
  Field lips, beard, moustache, circles, folds, neck;
  std::array<std::vector<Eigen::Vector2f>, 2> upper_lids, lower_lids;
  std::array<std::vector<Eigen::Vector2f>, 2> brows;  // from the outer end to the inner one
};

}  // namespace sdm::render
