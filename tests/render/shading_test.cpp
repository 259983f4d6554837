#include "render/shading.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/every_target.h"

namespace sdm::render {
namespace {

Light uneven_light() {
  Light light;
  light.harmonics = {0.5F, 0.1F, 0.2F, -0.05F, 0.03F, -0.04F, 0.06F, 0.02F, -0.03F};
  light.direction = Eigen::Vector3f(0.3F, 0.5F, 0.8F).normalized();
  light.strength = 0.9F;
  return light;
}

// A fragment by itself, with three components to a vector.
float plainly_shaded(const Scene& scene, const Corners& corners, const Light& light,
                     const ShadowMap* shadows, const Fragment& fragment, float distance) {
  const auto number = static_cast<std::size_t>(fragment.triangle);
  const Triangle& t = scene.triangles[number];
  const Material& material = scene.materials[scene.material[number]];
  const Eigen::Array<float, 12, 1> mean =
      (1 - fragment.second - fragment.third) * corners.col(t[0]) +
      fragment.second * corners.col(t[1]) + fragment.third * corners.col(t[2]);
  const Eigen::Vector3f point = mean.segment<3>(0);
  Eigen::Vector3f normal = mean.segment<3>(3).matrix().normalized();
  const Eigen::Vector3f view = (Eigen::Vector3f(0, 0, distance) - point).normalized();
  if (normal.dot(view) < 0) normal = -normal;
  const float reflectance = material.reflectance(mean[6], mean[7]);
  const float ambient = light.ambient(normal) * mean[8], cosine = normal.dot(light.direction);
  float direct = light.strength * std::max(0.0F, (cosine + material.wrap) / (1 + material.wrap));
  float shine = 0;
  if (shadows != nullptr && direct > 0) {
    direct *= shadows->lit(point, 0.25F + 0.5F * (1 - std::max(cosine, 0.0F)));
    const float h = std::max(0.0F, normal.dot((light.direction + view).normalized()));
    if (cosine > 0)
      shine = material.specular * direct / std::max(cosine, 0.1F) * h /
              (material.shininess * (1 - h) + h);
  }
  const float rim = std::pow(1 - normal.dot(view), 4.0F);
  return reflectance * (ambient + direct) + shine + 0.5F * material.specular * rim * ambient;
}

TEST(Shading, IsThatOfEveryFragmentByItselfWithEveryKindOfVectors) {
  // A shining roof before a wall with a picture, which are seen between 45 and 60 cm away.
  Scene scene;
  scene.points.resize(3, 7);
  scene.points << -6, 6, 0, -9, 9, 9, -9,  //
      -5, -4, 6, -7, -7, 7, 7,             //
      2, 3, 9, -2, -1, -3, -2;
  scene.texture = Eigen::Matrix2Xf::Zero(2, 7);
  scene.texture.rightCols<4>() << 0, 7, 7, 0, 5, 5, 0, 0;
  scene.open = {0.9F, 0.8F, 1, 0.5F, 0.6F, 0.7F, 0.8F};
  scene.triangles = {{0, 1, 2}, {3, 4, 5}, {3, 5, 6}};
  scene.material = {0, 1, 1};
  Field picture(8, 6);
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 8; ++x) picture(x, y) = static_cast<float>((3 * x + 5 * y) % 7) / 7;
  scene.materials = {{nullptr, 0.4F, 0.5F, 20, 0.2F, false, false},
                     {&picture, 0.9F, 0, 10, 0, false, false}};
  const Camera camera{150, 50, 30, 25};
  Points projected(3, 7);
  for (Index i = 0; i < 7; ++i) projected.col(i) = camera.project(scene.points.col(i));
  Raster raster(61, 50);
  raster.draw(projected, scene.triangles, true);
  const Points directions = normals(scene.points, scene.triangles);
  Corners corners = Corners::Zero(12, 7);
  for (Index i = 0; i < 7; ++i)
    corners.col(i).head<9>() << scene.points.col(i), directions.col(i), scene.texture.col(i),
        scene.open[static_cast<std::size_t>(i)];
  const Light light = uneven_light();
  ShadowMap map(light.direction, 20, 100);
  map.raster().draw(map.project(scene.points), scene.triangles, false);
  for (const ShadowMap* shadows : std::array<const ShadowMap*, 2>{nullptr, &map}) {
    Field first;
    on_every_target([&] {
      Field bright(61, 50, -1);
      shade(scene, corners, light, shadows, raster, camera.distance, bright);
      if (first.view().empty()) first = bright;
      int seen = 0;
      for (int y = 0; y < 50; ++y)
        for (int x = 0; x < 61; ++x) {
          const Fragment fragment = raster.at(x, y);
          const bool there = fragment.triangle >= 0;
          const float expected =
              there ? plainly_shaded(scene, corners, light, shadows, fragment, camera.distance)
                    : -1;
          ASSERT_NEAR(bright(x, y), expected, 1e-4F) << x << ", " << y;
          ASSERT_EQ(bright(x, y), first(x, y)) << x << ", " << y;
          seen += there ? 1 : 0;
        }
      EXPECT_GT(seen, 1000);
      EXPECT_LT(seen, 61 * 50);
    });
  }
}

}  // namespace
}  // namespace sdm::render
