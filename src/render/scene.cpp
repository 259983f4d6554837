#include "render/scene.h"

#include <cmath>
#include <memory>

namespace sdm::render {
namespace {

constexpr float kSceneRadius = 24;  // cm, what shadows are thrown in
constexpr int kShadowSide = 420;

// Samples side by side that are shaded at once.
constexpr int kLanes = 4;
using Lanes = Eigen::Array<float, kLanes, 1>;

// Exact, as Eigen's own root of an array is not.
Lanes root(const Lanes& squares) {
  Lanes roots;
  for (int k = 0; k < kLanes; ++k) roots[k] = std::sqrt(squares[k]);
  return roots;
}

struct Lanes3 {
  Lanes x, y, z;

  // As Eigen adds the products of two vectors.
  Lanes dot(const Lanes3& other) const { return x * other.x + (y * other.y + z * other.z); }
  Lanes3 operator/(const Lanes& length) const { return {x / length, y / length, z / length}; }
};

// What is interpolated over a triangle, of each vertex: the point, the normal, the place on the
// texture, the share of the sky; and room to a multiple of four.
using Corners = Eigen::Array<float, 12, Eigen::Dynamic>;

Corners corners_of(const Scene& scene) {
  const Points directions = normals(scene.points, scene.triangles);
  Corners corners(12, scene.points.cols());
  for (Index i = 0; i < corners.cols(); ++i)
    corners.col(i) << scene.points.col(i), directions.col(i), scene.texture.col(i),
        scene.open[std::size_t(i)], 0, 0, 0;
  return corners;
}

// Up to four fragments side by side; where there is no triangle `bright` stays as it is.
void shade(const Scene& scene, const Corners& corners, const Light& light, const ShadowMap* shadows,
           const Fragment* fragments, int count, float distance, float* bright) {
  Eigen::Array<float, kLanes, 12> at = Eigen::Array<float, kLanes, 12>::Zero();
  Lanes reflectance = Lanes::Zero(), specular = Lanes::Zero(), shininess = Lanes::Ones(),
        wrap = Lanes::Zero();
  bool any = false;
  for (int k = 0; k < count; ++k) {
    if (fragments[k].triangle < 0) continue;
    any = true;
    const Triangle& t = scene.triangles[std::size_t(fragments[k].triangle)];
    const Material& material = scene.materials[scene.material[std::size_t(fragments[k].triangle)]];
    const float w1 = fragments[k].second, w2 = fragments[k].third, w0 = 1 - w1 - w2;
    const Eigen::Array<float, 12, 1> mean =
        w0 * corners.col(t[0]) + w1 * corners.col(t[1]) + w2 * corners.col(t[2]);
    at.row(k) = mean;
    reflectance[k] = std::max(0.0F, material.reflectance(mean[6], mean[7]));
    specular[k] = material.specular, shininess[k] = material.shininess, wrap[k] = material.wrap;
  }
  if (!any) return;
  const Lanes3 point{at.col(0), at.col(1), at.col(2)};
  Lanes3 normal{at.col(3), at.col(4), at.col(5)};
  normal = normal / root(normal.dot(normal) + 1e-12F);
  Lanes3 view{-point.x, -point.y, distance - point.z};
  view = view / root(view.dot(view));
  Lanes facing = normal.dot(view), side;
  for (int k = 0; k < kLanes; ++k) side[k] = facing[k] < 0 ? -1.0F : 1.0F;
  normal = {side * normal.x, side * normal.y, side * normal.z};
  facing *= side;
  const Lanes ambient = light.expansion(normal.x, normal.y, normal.z).max(0) * at.col(8);
  const Eigen::Vector3f& lamp = light.direction;
  const Lanes cosine = normal.x * lamp.x() + (normal.y * lamp.y() + normal.z * lamp.z());
  Lanes direct = ((cosine + wrap) / (1 + wrap)).max(0) * light.strength, shine = Lanes::Zero();
  if (shadows != nullptr) {
    for (int k = 0; k < count; ++k)
      if (direct[k] > 0 && fragments[k].triangle >= 0)
        direct[k] *= shadows->lit({point.x[k], point.y[k], point.z[k]},
                                  0.25F + 0.5F * (1 - std::max(cosine[k], 0.0F)));
    Lanes3 half{lamp.x() + view.x, lamp.y() + view.y, lamp.z() + view.z};
    half = half / root(half.dot(half));
    const Lanes h = normal.dot(half).max(0);
    // Schlick's h^n.
    const Lanes power = specular * direct / cosine.max(0.1F) * h / (shininess * (1 - h) + h);
    for (int k = 0; k < kLanes; ++k)
      if (direct[k] > 0 && cosine[k] > 0 && specular[k] > 0) shine[k] = power[k];
  }
  const Lanes rim = 1 - facing.max(0);
  const Lanes sum =
      reflectance * (ambient + direct) + shine + 0.5F * specular * rim * rim * rim * rim * ambient;
  for (int k = 0; k < count; ++k)
    if (fragments[k].triangle >= 0) bright[k] = sum[k];
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
    if (!material.cutout) return true;
    const Triangle& t = scene.triangles[std::size_t(triangle)];
    const Eigen::Vector2f place =
        w0 * scene.texture.col(t[0]) + w1 * scene.texture.col(t[1]) + w2 * scene.texture.col(t[2]);
    return sample(*material.texture, place.x(), place.y()) >= 0;
  };
  const auto one_sided = [&](int triangle) {
    return scene.materials[scene.material[std::size_t(triangle)]].one_sided;
  };
  Points projected(3, scene.points.cols());
  for (Index i = 0; i < projected.cols(); ++i)
    projected.col(i) = camera.project(scene.points.col(i));
  raster.draw(projected, scene.triangles, true, shown, one_sided);
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
        [](int) { return false; });
  }
  const Corners corners = corners_of(scene);
  for (int y = 0; y < raster.height(); ++y)
    for (int x = 0; x < raster.width(); x += kLanes)
      shade(scene, corners, light, shadows.get(), &raster.at(x, y),
            std::min(kLanes, raster.width() - x), camera.distance, &bright(x, y));
}

}  // namespace sdm::render
