#pragma once

#include <string>

#include "sdm/base/types.h"

namespace sdm::rigid {

/// How a flat thing may move in the picture. Each family is a group: warps of it compose and invert
/// without leaving it. Affine is the paper's.
enum class Motion { translation, similarity, affine, homography };

/// Takes the points of a template to the points of a frame: (x, y, 1) up to scale = W (u, v, 1).
/// The last entry is 1 and, but for homographies, the last row is (0, 0, 1).
using Warp = Eigen::Matrix3d;

/// Parameters of a warp near the identity, at most 8, in this order:
///   translation  tx, ty
///   similarity   a, b, tx, ty           W = [1+a -b tx; b 1+a ty; 0 0 1]
///   affine       a, b, c, d, tx, ty     W = [1+a b tx; c 1+d ty; 0 0 1]
///   homography   affine's six, g, h     W = [.. ; .. ; g h 1]
using Parameters = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 8, 1>;

/// 2, 4, 6 or 8.
int parameter_count(Motion motion);

/// "translation", ..., and back. Throws Error listing the names there are.
std::string to_string(Motion motion);
Motion motion_from_string(const std::string& name);

/// The group. `compose(a, b)` does b first. A homography that sends the origin to infinity has no
/// finite result: look at `allFinite`.
Warp compose(const Warp& a, const Warp& b);
Warp inverse(const Warp& warp);

/// The chart at the identity and back: parameters_of(m, warp_of(m, p)) == p.
Warp warp_of(Motion motion, const Parameters& parameters);
Parameters parameters_of(Motion motion, const Warp& warp);

/// How the descent moves: step(w, d) = w o warp_of(d), so that the update is composed with the last
/// estimate, and difference(w, t) is the d with step(w, d) == t.
Warp step(Motion motion, const Warp& warp, const Parameters& delta);
Parameters difference(Motion motion, const Warp& warp, const Warp& target);

/// Where the warp takes a point.
Eigen::Vector2d apply(const Warp& warp, const Eigen::Vector2d& point);

}  // namespace sdm::rigid
