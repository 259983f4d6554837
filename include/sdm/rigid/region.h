#pragma once

#include <span>

#include "sdm/base/types.h"
#include "sdm/rigid/motion.h"

namespace sdm::rigid {

/// Corners of what is followed, in frame pixels: top left, top right, bottom right, bottom left of
/// the template, whatever way it is turned in the frame.
using Quad = Eigen::Matrix<double, 2, 4>;

/// The quadrilateral around the pixels [x, x + width) x [y, y + height). Pixel centres have whole
/// coordinates, so the corners lie half a pixel outside them.
Quad quad_of_box(double x, double y, double width, double height);

/// What four numbers (x, y, width, height of a box) or eight (x, y of the corners) say. Throws
/// Error for another count or a box without extent.
Quad quad_of_numbers(std::span<const double> numbers);

/// Template coordinates: the origin is the middle of the template and its longer side measures 100,
/// whatever its size in the frame, so that the paper's deviations (0.05 and 8 px for a template of
/// 100 px) mean the same for every template.
struct TemplateShape {
  double width = 100;
  double height = 100;

  /// Its corners in template coordinates.
  Quad corners() const;
  /// Where the warp puts the corners in the frame.
  Quad corners(const Warp& warp) const;
};

inline constexpr double kTemplateSide = 100;

/// The shape of what a quadrilateral shows: as wide and high as its opposite sides in the mean.
/// Throws Error if it is not convex, turned inside out, not finite or less than 8 px across.
TemplateShape shape_of(const Quad& quad);

/// The homography that takes the template's corners to those of the quadrilateral; affine where it
/// is a parallelogram.
Warp warp_to(const TemplateShape& shape, const Quad& quad);

/// Frame pixels per unit of the template at its middle: root of the Jacobian's determinant; 0 where
/// the warp is mirrored or not finite.
double scale_of(const Warp& warp);

}  // namespace sdm::rigid
