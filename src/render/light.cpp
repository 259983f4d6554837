#include "sdm/render/light.h"

#include <Eigen/Geometry>
#include <numbers>

namespace sdm::render {
namespace {

constexpr float kBias = 0.25F;  // cm
constexpr int kOcclusionSide = 320;

Points centred(const Points& points, float& radius) {
  const Eigen::Vector3f middle = 0.5F * (points.rowwise().minCoeff() + points.rowwise().maxCoeff());
  Points moved = points.colwise() - middle;
  radius = 1.01F * std::sqrt(moved.colwise().squaredNorm().maxCoeff());
  return moved;
}

// The i-th of n directions that are spread evenly over the sphere (Fibonacci's lattice).
Eigen::Vector3f spread_direction(int i, int n) {
  const float z = 1 - (2 * float(i) + 1) / float(n);
  const float angle = float(i) * std::numbers::pi_v<float> * (3 - std::sqrt(5.0F));
  const float r = std::sqrt(1 - z * z);
  return {r * std::cos(angle), r * std::sin(angle), z};
}

}  // namespace

void Light::add_glow(const Eigen::Vector3f& d, float amount) {
  const float second = amount * 5 / 16 * 1.5F;
  harmonics[0] += amount / 4;
  harmonics[1] += amount / 2 * d.y();
  harmonics[2] += amount / 2 * d.z();
  harmonics[3] += amount / 2 * d.x();
  harmonics[4] += second * 2 * d.x() * d.y();
  harmonics[5] += second * 2 * d.y() * d.z();
  harmonics[6] += second * (3 * d.z() * d.z() - 1) / 6;
  harmonics[7] += second * 2 * d.x() * d.z();
  harmonics[8] += second * (d.x() * d.x() - d.y() * d.y()) / 2;
}

ShadowMap::ShadowMap(const Eigen::Vector3f& direction, float radius, int side)
    : radius_(radius), side_(side), raster_(side, side, true) {
  const Eigen::Vector3f z = direction.normalized();
  const Eigen::Vector3f up =
      std::abs(z.y()) < 0.9F ? Eigen::Vector3f::UnitY() : Eigen::Vector3f::UnitX();
  const Eigen::Vector3f x = up.cross(z).normalized();
  axes_.row(0) = x;
  axes_.row(1) = z.cross(x);
  axes_.row(2) = z;
}

Points ShadowMap::project(const Points& points) const {
  Points projected(3, points.cols());
  for (Index i = 0; i < points.cols(); ++i)
    projected.col(i) = project(Eigen::Vector3f(points.col(i)));
  return projected;
}

float ShadowMap::lit(const Eigen::Vector3f& point, float bias) const {
  const Eigen::Vector3f p = project(point);
  const float depth = p.z() - bias;
  const int x = int(p.x() + 0.5F), y = int(p.y() + 0.5F);
  int lit = 0;
  if (x >= 1 && y >= 1 && x < side_ - 1 && y < side_ - 1) {
    for (int dy = -1; dy <= 1; ++dy) {
      const float* row = raster_.depths(x - 1, y + dy);
      for (int k = 0; k < 3; ++k) lit += depth < row[k] ? 1 : 0;
    }
    return float(lit) / 9;
  }
  for (int v = y - 1; v <= y + 1; ++v)
    for (int u = x - 1; u <= x + 1; ++u)
      if (u < 0 || v < 0 || u >= side_ || v >= side_ || depth < *raster_.depths(u, v)) ++lit;
  return float(lit) / 9;
}

std::vector<float> ambient_occlusion(const Points& points, const Points& normals,
                                     const std::vector<Triangle>& triangles, int directions,
                                     ThreadPool& pool) {
  float radius = 1;
  const Points moved = centred(points, radius);
  const auto count = std::size_t(points.cols());
  // Of each direction on its own, so that sums do not depend on the threads.
  std::vector<std::vector<bool>> seen(std::size_t(directions), std::vector<bool>(count, false));
  pool.run(directions, [&](Index k, int) {
    ShadowMap map(spread_direction(int(k), directions), radius, kOcclusionSide);
    const Points projected = map.project(moved);
    map.raster().draw(projected, triangles, false);
    const Eigen::Vector3f direction = spread_direction(int(k), directions);
    for (Index i = 0; i < points.cols(); ++i) {
      const float cosine = normals.col(i).dot(direction);
      if (cosine <= 0) continue;
      const int x = std::clamp(int(projected(0, i) + 0.5F), 0, kOcclusionSide - 1);
      const int y = std::clamp(int(projected(1, i) + 0.5F), 0, kOcclusionSide - 1);
      seen[std::size_t(k)][std::size_t(i)] =
          projected(2, i) - kBias - 2 * kBias * (1 - cosine) < *map.raster().depths(x, y);
    }
  });
  std::vector<float> open(count);
  for (std::size_t i = 0; i < count; ++i) {
    float sum = 0, all = 1e-6F;
    for (int k = 0; k < directions; ++k) {
      const float cosine = normals.col(Index(i)).dot(spread_direction(k, directions));
      if (cosine <= 0) continue;
      all += cosine;
      if (seen[std::size_t(k)][i]) sum += cosine;
    }
    open[i] = sum / all;
  }
  return open;
}

}  // namespace sdm::render
