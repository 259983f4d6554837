#include "sdm/face/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <span>

#include "sdm/base/error.h"
#include "sdm/face/aligner.h"
#include "sdm/io/bytes.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ABoxConvention, LeadsFromBoxesToFramesAndBack) {
  const BoxConvention convention{"drawn", 0.5F, 0.02F, -0.1F};
  const Box box{10, 20, 60, 60}, back = convention.box(convention.similarity(box));
  EXPECT_NEAR(back.x, box.x, 1e-4);
  EXPECT_NEAR(back.y, box.y, 1e-4);
  EXPECT_NEAR(back.width, box.width, 1e-4);
}

TEST(ATrainedModel, SurvivesItsFile) {
  const Model back = Model::from_model(io::read(io::to_bytes(drawn_training().model.to_model())));
  EXPECT_EQ(back.to_model(), drawn_training().model.to_model());
  const auto faces = drawn_faces(5, 4);
  Aligner one(drawn_training().model), other(back);
  for (const TrainingFace& face : faces)
    EXPECT_EQ(one.align(face.picture, face.boxes.front()).points,
              other.align(face.picture, face.boxes.front()).points);
}

TEST(AModelFile, ThatDoesNotFitTogetherIsRefused) {
  Model model = drawn_training().model;
  model.maps.pop_back();
  EXPECT_THROW(model.to_model(), Error);
  io::Model file = drawn_training().model.to_model();
  file.kind = "pose";
  EXPECT_THROW(Model::from_model(file), Error);
  file = drawn_training().model.to_model();
  file.header = "{}";
  EXPECT_THAT([&] { Model::from_model(file); }, ThrowsMessage<Error>(HasSubstr("header")));
  file = drawn_training().model.to_model();
  file.tensors.erase("stage1.patches");
  file.put("stage1.patches", file.tensor("stage0.left"));
  EXPECT_THAT([&] { Model::from_model(file); }, ThrowsMessage<Error>(HasSubstr("stage 1")));
}

TEST(AModelFile, KeepsTheShapeInSpaceAndLoadsWithoutOne) {
  Model model = drawn_training().model;
  model.shape3d = Eigen::Matrix3Xf::Random(3, model.points());
  model.shape3d_weights = Vector<float>::Ones(model.points());
  io::Model file = model.to_model();
  EXPECT_EQ(Model::from_model(file).shape3d, model.shape3d);
  EXPECT_EQ(Model::from_model(file).shape3d_weights, model.shape3d_weights);
  file.tensors.erase("shape3d");
  file.tensors.erase("shape3d.weight");
  EXPECT_EQ(Model::from_model(file).shape3d.cols(), 0);
  model.shape3d_weights[0] = -1;
  EXPECT_THAT([&] { model.to_model(); }, ThrowsMessage<Error>(HasSubstr("3D shape")));
  model.shape3d_weights.resize(1);
  EXPECT_THAT([&] { model.to_model(); }, ThrowsMessage<Error>(HasSubstr("1 weights")));
}

TEST(AModelFile, KeepsTheNamesOfPointsAndLoadsWithoutThem) {
  Model model = drawn_training().model;
  EXPECT_TRUE(Model::from_model(model.to_model()).point_names.empty());
  for (Index i = 0; i < model.points(); ++i) model.point_names.push_back("p" + std::to_string(i));
  EXPECT_EQ(Model::from_model(model.to_model()).point_names, model.point_names);
  model.point_names.pop_back();
  EXPECT_THAT([&] { model.to_model(); }, ThrowsMessage<Error>(HasSubstr("names of points for")));
}

TEST(AModelFile, WithAScaleThatIsNotFiniteIsRefused) {
  io::Model file = drawn_training().model.to_model();
  Matrix<float> broken = file.matrix<float>("stage1.patches.scale");
  broken(0, 0) = std::numeric_limits<float>::infinity();
  file.tensors.erase("stage1.patches.scale");
  file.put("stage1.patches.scale", io::to_tensor(broken));
  EXPECT_THAT([&] { Model::from_model(file); },
              ThrowsMessage<Error>(HasSubstr("stage 1 holds numbers that are not finite")));
}

TEST(AModelFile, WithASingleNumberForTheConfidenceIsRefused) {
  io::Model file = drawn_training().model.to_model();
  file.tensors.erase("confidence");
  const float one = 1;
  file.put("confidence", io::to_tensor(std::span<const float>(&one, 1), io::Shape{}));
  EXPECT_THROW(Model::from_model(file), Error);
}

// A cast would make small numbers of them.
TEST(AModelFile, WithNumbersBeyondTheirTypeIsRefused) {
  const io::Model good = drawn_training().model.to_model();
  const auto with = [&](const std::string& from, const std::string& to) {
    io::Model file = good;
    const std::size_t at = file.header.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    file.header.replace(at, from.size(), to);
    return file;
  };
  for (const char* number : {"1e30", "4294967299", "-9223372036854775808", "1.5", "\"4\"", "[]"})
    EXPECT_THAT(
        [&] {
          Model::from_model(
              with("\"cells\": ", std::string("\"cells\": ") + number + ", \"old\": "));
        },
        ThrowsMessage<Error>(HasSubstr("'cells' is")))
        << number;
  EXPECT_THAT([&] { Model::from_model(with("\"unit\": ", "\"unit\": 1e300, \"old\": ")); },
              ThrowsMessage<Error>(HasSubstr("'unit' is 1e+300")));
}

TEST(AModelFile, WithANameThatIsNotUtf8IsKeptAllTheSame) {
  Model model = drawn_training().model;
  model.name = "m\xff";
  EXPECT_EQ(Model::from_model(model.to_model()).name, "m\xEF\xBF\xBD");
}

TEST(AModelFile, ThatWouldCostTooMuchIsRefused) {
  Model model = drawn_training().model;
  model.recipe.unit = 512;
  model.recipe.canvas = 8;
  EXPECT_THAT([&] { model.validate(); }, ThrowsMessage<Error>(HasSubstr("4096 px wide")));
  model.recipe.canvas = 2;
  const StageRecipe redrawn{1, 8, true};
  model.recipe.stages.assign(64, redrawn);
  EXPECT_THAT([&] { model.recipe.validate(); },
              ThrowsMessage<Error>(HasSubstr("expected at most 16777216")));
}

}  // namespace
}  // namespace sdm::face
