#pragma once

#include <algorithm>
#include <vector>

#include "render/scene.h"
#include "sdm/base/random.h"

namespace sdm::render {

struct Glasses {
  Piece frame;
  std::vector<std::vector<Eigen::Vector3f>> lenses;  // their outlines
  float tint = 1;                                    // of the light that passes
};
/// `eyes` is the middle between them, at the front of the lids.
Glasses put_on_glasses(const Eigen::Vector3f& eyes, Random& random);

/// Shoulders and, some of the time, a collar or a scarf about the neck.
Piece dress(Random& random);

/// A rounded bar in the picture, from one end to the other: a finger, a stick.
struct Bar {
  Eigen::Vector2f from, to;
  float radius_from, radius_to;

  /// False: the point is outside, by a look at the box about the bar.
  bool may_hold(const Eigen::Vector2f& point) const {
    const float reach = std::max(radius_from, radius_to) + 1;
    return (point.array() >= from.cwiseMin(to).array() - reach).all() &&
           (point.array() <= from.cwiseMax(to).array() + reach).all();
  }
  /// How far inside, in pixels; below 0: outside. `normal` is that of a round bar.
  float inside(const Eigen::Vector2f& point, Eigen::Vector3f& normal) const;
};
/// A hand, a microphone or some other thing before a face of this middle and size, in pixels.
std::vector<Bar> hold_something(const Eigen::Vector2f& middle, float size, Random& random);

}  // namespace sdm::render
