#include "sdm/face/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "sdm/base/error.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

Recipe good_recipe() {
  Recipe recipe;
  recipe.stages = {{4, 8, true}, {3, 5, false}};
  recipe.patch_scale = {1, 1.5F};
  return recipe;
}

TEST(ARecipe, IsTakenUpToTheEndsOfItsRanges) {
  EXPECT_NO_THROW(good_recipe().validate());
  const std::function<void(Recipe&)> ends[] = {
      [](Recipe& r) { r.unit = 8; },
      [](Recipe& r) {
        r.unit = 512;
        r.canvas = 2;
      },
      [](Recipe& r) { r.canvas = 1; },
      [](Recipe& r) { r.canvas = 8; },
      [](Recipe& r) { r.shape_weight = 0; },
      [](Recipe& r) { r.shape_weight = 1e4F; },
      [](Recipe& r) { r.stages.resize(1); },
      [](Recipe& r) { r.stages.resize(64); },
      [](Recipe& r) { r.patch_scale.clear(); },
      [](Recipe& r) {
        r.patch_scale = {0.25F, 4};
      },
  };
  for (const auto& change : ends) {
    Recipe recipe = good_recipe();
    change(recipe);
    EXPECT_NO_THROW(recipe.validate());
  }
}

TEST(ARecipe, NamesTheFieldThatIsOutOfRange) {
  struct Case {
    std::function<void(Recipe&)> change;
    const char* named;
  };
  const Case cases[] = {
      {[](Recipe& r) { r.unit = 7.5F; }, "7.5 px a unit, expected 8 to 512"},
      {[](Recipe& r) { r.unit = 513; }, "513 px a unit, expected 8 to 512"},
      {[](Recipe& r) { r.unit = kNoNumber; }, "nan px a unit"},
      {[](Recipe& r) { r.canvas = 0.5F; }, "canvas is 0.5 units wide, expected 1 to 8"},
      {[](Recipe& r) { r.canvas = 9; }, "canvas is 9 units wide, expected 1 to 8"},
      {[](Recipe& r) { r.canvas = kNoNumber; }, "canvas is nan units wide"},
      {[](Recipe& r) { r.shape_weight = -1; }, "shape weight is -1, expected 0 to 10000"},
      {[](Recipe& r) { r.shape_weight = 10001; }, "shape weight is 10001"},
      {[](Recipe& r) { r.shape_weight = kNoNumber; }, "shape weight is nan"},
      {[](Recipe& r) { r.stages[0].points = {0}; }, "the first stage sees 1 points, expected all"},
      {[](Recipe& r) { r.stages[1].shape_scale = -1; }, "stage 1 is scaled by -1"},
      {[](Recipe& r) { r.stages[1].shape_scale = kNoNumber; }, "stage 1 is scaled by nan"},
      {[](Recipe& r) { r.stages.clear(); }, "0 stages, expected 1 to 64"},
      {[](Recipe& r) { r.stages.resize(65); }, "65 stages, expected 1 to 64"},
      {[](Recipe& r) { r.stages[1].cells = 0; }, "HoG cells a side are 0"},
      {[](Recipe& r) { r.stages[1].cell = 0.1F; }, "HoG cell is 0.1 px"},
      {[](Recipe& r) { r.stages[1].cell = 1e6F; }, "HoG cell is 1000000"},
      {[](Recipe& r) { r.stages[1].cell = kNoNumber; }, "HoG cell is nan px"},
      {[](Recipe& r) { r.patch_scale[1] = 0.2F; }, "scaled by 0.2, expected 0.25 to 4"},
      {[](Recipe& r) { r.patch_scale[1] = 5; }, "scaled by 5, expected 0.25 to 4"},
      {[](Recipe& r) { r.patch_scale[1] = kNoNumber; }, "scaled by nan"},
      // Each is well by itself, but not the patch that the two make.
      {[](Recipe& r) {
         r.stages[1].cell = 1;
         r.patch_scale[1] = 0.25F;
       },
       "HoG cell is 0.25 px"},
  };
  for (const Case& one : cases) {
    Recipe recipe = good_recipe();
    one.change(recipe);
    EXPECT_THAT([&] { recipe.validate(); }, ThrowsMessage<Error>(HasSubstr(one.named)));
  }
}

TEST(ARecipe, RefusesPartsThatAreNoneOfTheFace) {
  Recipe recipe = good_recipe();
  const std::vector<int> mirror = {1, 0, 2};
  recipe.stages[1].points = {0, 1};
  EXPECT_NO_THROW(recipe.require_parts(3, mirror));
  for (const std::vector<int>& points : {std::vector<int>{1, 3}, {1, 0}, {1, 1}, {-1, 0}}) {
    recipe.stages[1].points = points;
    EXPECT_THAT([&] { recipe.require_parts(3, {}); },
                ThrowsMessage<Error>(HasSubstr("stage 1 sees point")));
  }
  recipe.stages[1].points = {0, 2};
  EXPECT_NO_THROW(recipe.require_parts(3, {}));
  EXPECT_THAT([&] { recipe.require_parts(3, mirror); },
              ThrowsMessage<Error>(HasSubstr("point 0 without its partner 1")));
}

TEST(ARecipe, KnowsTheLastStageOfTheWholeFace) {
  Recipe recipe = good_recipe();
  EXPECT_EQ(recipe.last_whole_stage(), 1);
  recipe.stages[1].points = {0};
  EXPECT_EQ(recipe.last_whole_stage(), 0);
}

}  // namespace
}  // namespace sdm::face
