#include "render/scene.h"

#include <cmath>
#include <memory>

#include "render/shading.h"

namespace sdm::render {
namespace {

constexpr float kSceneRadius = 24;  // cm, what shadows are thrown in
constexpr int kShadowSide = 420;

Corners corners_of(const Scene& scene) {
  const Points directions = normals(scene.points, scene.triangles);
  Corners corners(12, scene.points.cols());
  for (Index i = 0; i < corners.cols(); ++i) {
    auto corner = corners.col(i);
    corner.segment<3>(0) = scene.points.col(i);
    corner.segment<3>(3) = directions.col(i);
    corner.segment<2>(6) = scene.texture.col(i);
    corner.segment<4>(8) << scene.open[std::size_t(i)], 0, 0, 0;
  }
  return corners;
}

// By the signs of the texture's pixels that may be seen on it.
Raster::Extent extent_of(const Scene& scene, std::size_t triangle) {
  const Material& material = scene.materials[scene.material[triangle]];
  if (!material.cutout) return Raster::Extent::whole;
  const Field& texture = *material.texture;
  const Triangle& t = scene.triangles[triangle];
  const Eigen::Vector2f a = scene.texture.col(t[0]), b = scene.texture.col(t[1]),
                        c = scene.texture.col(t[2]);
  constexpr float kMargin = 0.05F;  // px, for rounding
  const Eigen::Vector2f low = a.cwiseMin(b).cwiseMin(c).array() - kMargin,
                        high = a.cwiseMax(b).cwiseMax(c).array() + kMargin;
  const int last_x = texture.width() - 1, last_y = texture.height() - 1;
  const int x0 = std::clamp(int(low.x()), 0, last_x), y0 = std::clamp(int(low.y()), 0, last_y);
  const int x1 = std::clamp(int(high.x()) + 1, 0, last_x);
  const int y1 = std::clamp(int(high.y()) + 1, 0, last_y);
  bool some = false, gaps = false;
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) (texture(x, y) >= 0 ? some : gaps) = true;
  return !gaps ? Raster::Extent::whole : some ? Raster::Extent::holed : Raster::Extent::none;
}

}  // namespace

void Piece::join_grid(int rows, int columns) {
  const int first = int(points.size()) - rows * columns;
  for (int row = 0; row + 1 < rows; ++row)
    for (int column = 0; column + 1 < columns; ++column) {
      const int a = first + row * columns + column, b = a + columns;
      triangles.push_back({a, b, b + 1});
      triangles.push_back({a, b + 1, a + 1});
    }
}

void Scene::add(const Piece& piece, Surface made_of) {
  const Index first = points.cols(), more = Index(piece.points.size());
  points.conservativeResize(3, first + more);
  texture.conservativeResize(2, first + more);
  for (Index i = 0; i < more; ++i) {
    points.col(first + i) = piece.points[std::size_t(i)];
    texture.col(first + i) = piece.texture[std::size_t(i)];
  }
  open.resize(std::size_t(first + more), 0.9F);
  for (const Triangle& t : piece.triangles)
    triangles.push_back({t[0] + int(first), t[1] + int(first), t[2] + int(first)});
  material.resize(triangles.size(), made_of);
}

void light_scene(const Scene& scene, const Light& light, const Camera& camera, Raster& raster,
                 Field& bright) {
  const auto shown = [&](int triangle, float w0, float w1, float w2) {
    const Material& material = scene.materials[scene.material[std::size_t(triangle)]];
    const Triangle& t = scene.triangles[std::size_t(triangle)];
    const Eigen::Vector2f place =
        w0 * scene.texture.col(t[0]) + w1 * scene.texture.col(t[1]) + w2 * scene.texture.col(t[2]);
    return sample(*material.texture, place.x(), place.y()) >= 0;
  };
  const auto one_sided = [&](int triangle) {
    return scene.materials[scene.material[std::size_t(triangle)]].one_sided;
  };
  std::vector<Raster::Extent> extents(scene.triangles.size());
  for (std::size_t i = 0; i < extents.size(); ++i) extents[i] = extent_of(scene, i);
  const auto extent = [&](int triangle) { return extents[std::size_t(triangle)]; };
  Points projected(3, scene.points.cols());
  for (Index i = 0; i < projected.cols(); ++i)
    projected.col(i) = camera.project(scene.points.col(i));
  raster.draw(projected, scene.triangles, true, shown, one_sided, extent);
  std::unique_ptr<ShadowMap> shadows;
  if (light.strength > 0) {
    shadows = std::make_unique<ShadowMap>(light.direction, kSceneRadius, kShadowSide);
    // What is inside the head throws no shadow that one sees.
    std::vector<Triangle> outer;
    std::vector<int> numbers;
    for (std::size_t i = 0; i < scene.triangles.size(); ++i)
      if (const unsigned char m = scene.material[i]; m <= kBack || m >= kHair)
        outer.push_back(scene.triangles[i]), numbers.push_back(int(i));
    shadows->raster().draw(
        shadows->project(scene.points), outer, false,
        [&](int i, float w0, float w1, float w2) {
          return shown(numbers[std::size_t(i)], w0, w1, w2);
        },
        nullptr, [&](int i) { return extent(numbers[std::size_t(i)]); });
  }
  shade(scene, corners_of(scene), light, shadows.get(), raster, camera.distance, bright);
}

}  // namespace sdm::render
