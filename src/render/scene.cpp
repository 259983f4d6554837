#include "render/scene.h"

#include <cmath>
#include <memory>

namespace sdm::render {
namespace {

constexpr float kSceneRadius = 24;  // cm, what shadows are thrown in
constexpr int kShadowSide = 420;

float shade(const Scene& scene, const Points& normals, const Light& light, const ShadowMap* shadows,
            const Fragment& fragment, float distance) {
  const Triangle& t = scene.triangles[std::size_t(fragment.triangle)];
  const Material& material = scene.materials[scene.material[std::size_t(fragment.triangle)]];
  const float w1 = fragment.second, w2 = fragment.third, w0 = 1 - w1 - w2;
  const auto mix = [&](const auto& columns) {
    return (w0 * columns.col(t[0]) + w1 * columns.col(t[1]) + w2 * columns.col(t[2])).eval();
  };
  const Eigen::Vector3f point = mix(scene.points);
  Eigen::Vector3f normal = mix(normals);
  normal /= std::sqrt(normal.squaredNorm() + 1e-12F);
  const Eigen::Vector3f view = (Eigen::Vector3f(0, 0, distance) - point).normalized();
  float facing = normal.dot(view);
  if (facing < 0) normal = -normal, facing = -facing;
  const Eigen::Vector2f place = mix(scene.texture);
  const float reflectance = std::max(0.0F, material.reflectance(place.x(), place.y()));
  const float open = w0 * scene.open[std::size_t(t[0])] + w1 * scene.open[std::size_t(t[1])] +
                     w2 * scene.open[std::size_t(t[2])];
  const float ambient = light.ambient(normal) * open;
  const float cosine = normal.dot(light.direction);
  float direct = std::max(0.0F, (cosine + material.wrap) / (1 + material.wrap)) * light.strength;
  if (direct > 0 && shadows != nullptr)
    direct *= shadows->lit(point, 0.25F + 0.5F * (1 - std::max(cosine, 0.0F)));
  float shine = 0;
  if (direct > 0 && cosine > 0 && material.specular > 0) {
    const Eigen::Vector3f half = (light.direction + view).normalized();
    const float h = std::max(0.0F, normal.dot(half));
    // Schlick's h^n.
    shine = material.specular * direct / std::max(cosine, 0.1F) * h /
            (material.shininess * (1 - h) + h);
  }
  const float rim = 1 - std::max(facing, 0.0F);
  return reflectance * (ambient + direct) + shine +
         0.5F * material.specular * rim * rim * rim * rim * ambient;
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
  const Points scene_normals = normals(scene.points, scene.triangles);
  for (int y = 0; y < raster.height(); ++y)
    for (int x = 0; x < raster.width(); ++x)
      if (const Fragment& fragment = raster.at(x, y); fragment.triangle >= 0)
        bright(x, y) = shade(scene, scene_normals, light, shadows.get(), fragment, camera.distance);
}

}  // namespace sdm::render
