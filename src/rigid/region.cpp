#include "sdm/rigid/region.h"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::rigid {
namespace {

constexpr double kSmallestSide = 8;  // px; a cell and its neighbours must still see pixels

double cross(const Eigen::Vector2d& a, const Eigen::Vector2d& b) {
  return a.x() * b.y() - a.y() * b.x();
}

}  // namespace

Quad quad_of_box(double x, double y, double width, double height) {
  const double left = x - 0.5, top = y - 0.5;
  Quad quad;
  quad << left, left + width, left + width, left, top, top, top + height, top + height;
  return quad;
}

Quad quad_of_numbers(std::span<const double> n) {
  if (n.size() == 8) return Eigen::Map<const Quad>(n.data());
  if (n.size() != 4)
    throw Error(formatted(
        "{} numbers for the region, expected 4 (x,y,width,height) or 8 (x,y of four corners)",
        n.size()));
  if (!(n[2] > 0 && n[3] > 0))
    throw Error(
        formatted("the box is {:g} x {:g} px, expected a positive width and height", n[2], n[3]));
  return quad_of_box(n[0], n[1], n[2], n[3]);
}

Quad TemplateShape::corners() const {
  return quad_of_box(0.5 - width / 2, 0.5 - height / 2, width, height);
}

Quad TemplateShape::corners(const Warp& warp) const {
  Quad quad = corners();
  for (int i = 0; i < 4; ++i) quad.col(i) = apply(warp, quad.col(i));
  return quad;
}

TemplateShape shape_of(const Quad& quad) {
  if (!quad.allFinite()) throw Error("a corner of the region is not finite");
  const auto side = [&](int i) -> Eigen::Vector2d { return quad.col((i + 1) % 4) - quad.col(i); };
  for (int i = 0; i < 4; ++i)
    if (!(cross(side(i), side((i + 1) % 4)) > 0))
      throw Error(formatted(
          "the region ({:g}, {:g}), ({:g}, {:g}), ({:g}, {:g}), ({:g}, {:g}) is not a convex "
          "quadrilateral with corners in the order top left, top right, bottom right, bottom left",
          quad(0, 0), quad(1, 0), quad(0, 1), quad(1, 1), quad(0, 2), quad(1, 2), quad(0, 3),
          quad(1, 3)));
  const double width = (side(0).norm() + side(2).norm()) / 2;
  const double height = (side(1).norm() + side(3).norm()) / 2;
  if (std::min(width, height) < kSmallestSide)
    throw Error(formatted("the region is {:.3g} x {:.3g} px, expected at least {:g} px a side",
                          width, height, kSmallestSide));
  // The ratio first: it is exactly 1 for the longer side, which so measures exactly 100.
  const double longer = std::max(width, height);
  return {kTemplateSide * (width / longer), kTemplateSide * (height / longer)};
}

Warp warp_to(const TemplateShape& shape, const Quad& quad) {
  const Quad from = shape.corners();
  Eigen::Matrix<double, 8, 8> a;
  Eigen::Matrix<double, 8, 1> b;
  for (int i = 0; i < 4; ++i) {
    const double u = from(0, i), v = from(1, i), x = quad(0, i), y = quad(1, i);
    a.row(2 * i) << u, v, 1, 0, 0, 0, -u * x, -v * x;
    a.row(2 * i + 1) << 0, 0, 0, u, v, 1, -u * y, -v * y;
    b.segment<2>(2 * i) << x, y;
  }
  const Eigen::Matrix<double, 8, 1> h = a.partialPivLu().solve(b);
  // Rounding must not make a box projective: affine warps are faster and exactly affine stays so.
  const bool affine =
      (quad.col(0) - quad.col(1) + quad.col(2) - quad.col(3)).norm() < 1e-9 * quad.norm();
  Warp warp;
  warp << h[0], h[1], h[2], h[3], h[4], h[5], affine ? 0 : h[6], affine ? 0 : h[7], 1;
  return warp;
}

double scale_of(const Warp& warp) {
  const Eigen::Vector2d middle = warp.topRightCorner<2, 1>();
  const Eigen::Matrix2d jacobian =
      warp.topLeftCorner<2, 2>() - middle * warp.bottomLeftCorner<1, 2>();
  const double area = jacobian.determinant();
  return std::isfinite(area) && area > 0 ? std::sqrt(area) : 0;
}

}  // namespace sdm::rigid
