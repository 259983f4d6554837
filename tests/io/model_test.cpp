#include "sdm/io/model.h"

#include "tests/io/expect_error.h"

namespace sdm::io {
namespace {

Model pose() {
  Model model;
  model.kind = "pose";
  return model;
}

TEST(Model, TellsAnotherKind) {
  EXPECT_NO_THROW(pose().require_kind("pose"));
  expect_error([] { pose().require_kind("face"); }, "this is a pose model, expected a face model");
}

TEST(Model, TellsAMissingTensorAndATakenName) {
  Model model = pose();
  expect_error([&] { model.tensor("R0"); }, "the pose model has no tensor 'R0'");
  model.put("R0", Tensor());
  expect_error([&] { model.put("R0", Tensor()); }, "already has a tensor 'R0'");
}

TEST(Model, NamesTheTensorOfAWrongShape) {
  Model model = pose();
  model.put("R0", to_tensor(Matrix<double>(Matrix<double>::Zero(2, 3))));
  expect_error([&] { model.matrix<double>("R0", 6, 16); },
               "tensor 'R0' of the pose model: f64 [2, 3]: expected a matrix [6, 16]");
}

TEST(Model, GivesBackNumbersFromEveryNarrowStorage) {
  Matrix<float> m(2, 3);
  m << 127, -64, 1, 2, 32, -127;  // exact in i8 by row and in f16
  Model model = pose();
  model.put("wide", to_tensor(m));
  model.put_f16("half", to_tensor(m));
  model.put_i8("byte", to_tensor(m), ScalePer::row);
  for (const char* name : {"wide", "half", "byte"}) {
    EXPECT_EQ(model.matrix<float>(name, 2, 3), m) << name;
    EXPECT_EQ(model.matrix<double>(name), m.cast<double>()) << name;
  }
  EXPECT_EQ(model.tensor("byte.scale").shape(), (Shape{2, 1}));
}

TEST(Model, GivesVectors) {
  Model model = pose();
  model.put("b", to_tensor(Eigen::Vector2d(1, 2)));
  EXPECT_EQ(model.vector<float>("b", 2), Eigen::Vector2f(1, 2));
  expect_error([&] { model.vector<float>("b", 3); }, "tensor 'b' of the pose model");
}

}  // namespace
}  // namespace sdm::io
