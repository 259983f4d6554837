#include "experiments/rigid/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sdm::experiments {
namespace {

constexpr int kFrames = 500;

double corner_speed(const MotionPath& path, int t) {
  const rigid::TemplateShape shape;
  return (shape.corners(path.at(t + 1, kFrames)) - shape.corners(path.at(t, kFrames)))
      .colwise()
      .norm()
      .maxCoeff();
}

TEST(EveryMotion, StartsStillAndGentleAndEndsFasterThanAnyoneCanFollow) {
  for (const MotionPath& path : motion_paths()) {
    EXPECT_TRUE(path.at(0, kFrames).isIdentity(1e-9)) << path.name;
    double gentle = 0, violent = 0;
    for (int t = 0; t < 50; ++t) gentle = std::max(gentle, corner_speed(path, t));
    for (int t = kFrames - 50; t < kFrames; ++t) violent = std::max(violent, corner_speed(path, t));
    EXPECT_LT(gentle, 5) << path.name;
    if (path.name != "lighting") {  // there the light is what grows
      EXPECT_GT(violent, 50) << path.name;
    }
  }
}

TEST(EveryMotion, KeepsTheTemplateInTheFrame) {
  const Texture grey{"grey", image::Image<float>(8, 8, 128.F), {4, 4}};
  const Scene scene(grey, 1);
  for (const MotionPath& path : motion_paths())
    for (double t = 0; t <= kFrames; t += 0.25) {
      const rigid::Quad corners = rigid::TemplateShape().corners(scene.truth(path.at(t, kFrames)));
      EXPECT_GT(corners.minCoeff(), 0) << path.name << " at " << t;
      EXPECT_LT(corners.row(0).maxCoeff(), Scene::kWidth) << path.name << " at " << t;
      EXPECT_LT(corners.row(1).maxCoeff(), Scene::kHeight) << path.name << " at " << t;
    }
}

TEST(Textures, SayHowManyOfThemAreDrawn) {
  for (const bool quick : {false, true}) {
    ExperimentContext context;
    context.quick = quick;
    std::string source;
    const std::vector<Texture> textures = load_textures(context, source);
    EXPECT_EQ(textures.size(), quick ? 2U : 6U) << source;
    const auto drawn = std::count_if(textures.begin(), textures.end(), [](const Texture& texture) {
      return texture.name.starts_with("drawn");
    });
    const std::string said = std::to_string(drawn) + " drawn texture";
    EXPECT_EQ(source.find(said) != std::string::npos, drawn > 0) << source;
    EXPECT_EQ(source.find("photograph") != std::string::npos, drawn < long(textures.size()))
        << source;
  }
}

}  // namespace
}  // namespace sdm::experiments
