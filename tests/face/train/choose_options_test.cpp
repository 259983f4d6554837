#include "sdm/face/train/choose_options.h"

#include <gtest/gtest.h>

#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

TrainerOptions given() {
  TrainerOptions options;
  options.mirror = drawn_mirror();
  options.unit = {0, 3};
  options.name = "drawn";
  return options;
}

double held_out(const std::vector<TrainingFace>& faces, const TrainerOptions& options) {
  const std::vector<double> errors = held_out_errors(faces, options);
  return *std::min_element(errors.begin(), errors.end());
}

TEST(TheChoice, IsNoWorseThanWhereItBeganAndThanItSays) {
  const auto faces = drawn_faces(40, 11);
  const Choice choice = choose_options(faces, given(), {.seconds = 20});
  ASSERT_GT(choice.tried.size(), 10U);
  EXPECT_TRUE(choice.tried.front().better);
  EXPECT_LT(choice.error, choice.tried.front().error);
  EXPECT_DOUBLE_EQ(held_out(faces, choice.options), choice.error);
  double least = choice.tried.front().error;
  for (const TriedOptions& tried : choice.tried)
    if (tried.better) least = tried.error;
  EXPECT_EQ(choice.error, least);
  EXPECT_EQ(choice.options.name, "drawn");
  EXPECT_EQ(choice.options.mirror, drawn_mirror());
  EXPECT_NE(choice.text.find("px a unit"), std::string::npos);
}

TEST(TheChoice, IsTheSameWithAnyNumberOfThreads) {
  const auto faces = drawn_faces(24, 12);
  TrainerOptions one = given(), three = given();
  one.threads = 1;
  three.threads = 3;
  EXPECT_EQ(choose_options(faces, one, {.seconds = 3}).text,
            choose_options(faces, three, {.seconds = 3}).text);
}

TEST(TheChoice, KeepsToItsBudgetAndAlwaysTriesOne) {
  const auto faces = drawn_faces(24, 13);
  const auto tried = [&](double seconds) {
    return choose_options(faces, given(), {.seconds = seconds}).tried.size();
  };
  EXPECT_EQ(tried(1e-6), 1U);
  EXPECT_LT(tried(0.5), tried(5));
}

TEST(TheChoice, TakesSomeOfManyFaces) {
  const auto faces = drawn_faces(30, 14);
  int told = 0;
  ChoiceOptions options{.seconds = 1e-6, .faces = 12};
  options.tried = [&](const TriedOptions&) { ++told; };
  const Choice few = choose_options(faces, given(), options);
  EXPECT_EQ(told, 1);
  EXPECT_NE(few.error, held_out(faces, few.options));
}

}  // namespace
}  // namespace sdm::face
