#pragma once

#include <array>
#include <vector>

#include "sdm/base/thread_pool.h"
#include "sdm/render/mesh.h"
#include "sdm/render/rasteriser.h"

namespace sdm::render {

/// Light from everywhere, as spherical harmonics of the second degree in the normal, and from one
/// direction, which throws shadows.
struct Light {
  /// Of 1, y, z, x, xy, yz, 3zz - 1, xz, xx - yy.
  std::array<float, 9> harmonics{1, 0, 0, 0, 0, 0, 0, 0, 0};
  Eigen::Vector3f direction{0, 0, 1};  // towards the lamp, of length 1
  float strength = 0;                  // of the lamp

  /// Adds a far lamp without shadow to what comes from everywhere: its clamped cosine up to the
  /// second degree (Ramamoorthi and Hanrahan 2001).
  void add_glow(const Eigen::Vector3f& towards, float amount);
  /// What comes from everywhere; not below 0.
  float ambient(const Eigen::Vector3f& normal) const {
    return std::max(0.0F, expansion(normal.x(), normal.y(), normal.z()));
  }
  /// The sum of the harmonics, for a normal or an array of them.
  template <class Value>
  Value expansion(const Value& x, const Value& y, const Value& z) const {
    const auto& h = harmonics;
    return h[0] + h[1] * y + h[2] * z + h[3] * x + h[4] * x * y + h[5] * y * z +
           h[6] * (3 * z * z - 1) + h[7] * x * z + h[8] * (x * x - y * y);
  }
};

/// How far from a lamp at infinity a scene is first hit.
class ShadowMap {
 public:
  /// `radius` about the origin is covered, by `side` x `side` rays.
  ShadowMap(const Eigen::Vector3f& direction, float radius, int side);

  /// A point's place in the map, and its depth.
  Eigen::Vector3f project(const Eigen::Vector3f& point) const {
    const Eigen::Vector3f turned = axes_ * point;
    return {(turned.x() / radius_ + 1) * 0.5F * float(side_),
            (turned.y() / radius_ + 1) * 0.5F * float(side_), -turned.z()};
  }
  Points project(const Points& points) const;
  /// Keeps depths alone.
  Raster& raster() { return raster_; }

  /// The share of the rays about a point that reach it; `bias` is how far behind the first hit a
  /// point may be and still be lit. Outside the map all is lit.
  float lit(const Eigen::Vector3f& point, float bias) const;

 private:
  Eigen::Matrix3f axes_;
  float radius_;
  int side_;
  Raster raster_;
};

/// Of each vertex the share of the sky that it sees, weighted by the cosine: 1 in the open.
std::vector<float> ambient_occlusion(const Points& points, const Points& normals,
                                     const std::vector<Triangle>& triangles, int directions,
                                     ThreadPool& pool);

}  // namespace sdm::render
