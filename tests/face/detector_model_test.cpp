#include "sdm/face/detector_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/face/why.h"
#include "tests/temporary_folder.h"

namespace sdm::face {
namespace {

DetectorModel sample() {
  DetectorModel model;
  model.columns = 4;
  model.rows = 3;
  model.cell = 0.5F;
  model.threshold = -1.5F;
  model.name = "sample";
  model.licence = "none";
  for (const float roll : {0.0F, 0.4F}) {
    DetectorTemplate one{"some", roll, 0.01F, -2, {}};
    for (int i = 0; i < model.features(); ++i)
      one.weights.push_back(static_cast<std::int8_t>(i % 101 - 50));
    model.templates.push_back(one);
  }
  model.gate = model.templates[0];
  model.gate_threshold = -3;
  return model;
}

TEST(ADetectorModel, ComesBackFromItsFile) {
  const TemporaryFolder folder;
  const DetectorModel model = sample();
  model.save(folder / "detector.sdm");
  const DetectorModel read = DetectorModel::load(folder / "detector.sdm");
  EXPECT_EQ(read.to_model(), model.to_model());
  EXPECT_EQ(read.templates[1].weights, model.templates[1].weights);
  EXPECT_EQ(read.templates[1].roll, model.templates[1].roll);
  EXPECT_EQ(read.gate_threshold, model.gate_threshold);
}

TEST(ADetectorModel, WithoutAGateComesBackWithoutOne) {
  DetectorModel model = sample();
  model.gate = {};
  EXPECT_FALSE(DetectorModel::from_model(model.to_model()).has_gate());
}

TEST(ADetectorModel, NeedNotSayWhereItComesFrom) {
  io::Model file = sample().to_model();
  auto header = nlohmann::json::parse(file.header);
  header.erase("provenance");
  header.erase("licence");
  file.header = header.dump();
  EXPECT_EQ(DetectorModel::from_model(file).licence, "");
}

TEST(ADetectorModel, RefusesAModelOfAnotherKind) {
  io::Model file = sample().to_model();
  file.kind = "face";
  EXPECT_THAT(why([&] { DetectorModel::from_model(file); }), testing::HasSubstr("detector"));
}

// Headers that pass every checksum and lie.
TEST(ADetectorModel, RefusesHostileNumbers) {
  const auto with = [](const char* field, const nlohmann::json& value) {
    io::Model file = sample().to_model();
    auto header = nlohmann::json::parse(file.header);
    header[nlohmann::json::json_pointer(field)] = value;
    file.header = header.dump();
    return file;
  };
  const std::pair<const char*, nlohmann::json> lies[] = {{"/columns", 1000000000},
                                                         {"/columns", -4},
                                                         {"/rows", 0},
                                                         {"/rows", 33},
                                                         {"/cell", 0},
                                                         {"/cell", 1e30},
                                                         {"/threshold", 1e30},
                                                         {"/templates", {1, 2, 3}},
                                                         {"/templates/0/scale", 1e30},
                                                         {"/templates/0/bias", -1e30},
                                                         {"/templates", nlohmann::json::array()},
                                                         {"/gate/threshold", 1e30},
                                                         {"/columns", "ten"},
                                                         {"/columns", 4.5},
                                                         {"/columns", 4294967300},
                                                         {"/rows", 1e30},
                                                         {"/rows", true},
                                                         {"/templates/1/roll", 1e9}};
  // Their product is not to be taken: it does not fit an int.
  for (const char* side : {"/columns", "/rows"})
    EXPECT_THAT(why([&] { DetectorModel::from_model(with(side, 2147483647)); }),
                testing::HasSubstr("2147483647"));
  for (const auto& [field, value] : lies) {
    const io::Model file = with(field, value);
    EXPECT_NE(why([&] { DetectorModel::from_model(file); }), "nothing") << field << " " << value;
  }
}

TEST(ADetectorModel, RefusesTensorsOfAnotherShapeOrType) {
  const DetectorModel model = sample();
  io::Model file = model.to_model();
  file.tensors.erase("templates");
  EXPECT_NE(why([&] { DetectorModel::from_model(file); }), "nothing");
  file.put("templates", io::to_tensor(std::vector<float>(96)));
  EXPECT_THAT(why([&] { DetectorModel::from_model(file); }),
              testing::HasSubstr("expected i8 [96, 2]"));
}

TEST(ADetectorModel, NamesATemplateThatDoesNotFit) {
  DetectorModel model = sample();
  model.templates[1].weights.pop_back();
  model.templates[1].name = "odd";
  EXPECT_THAT(why([&] { model.validate(); }), testing::HasSubstr("'odd' has 95 weights"));
  model = sample();
  model.templates[0].bias = NAN;
  EXPECT_NE(why([&] { model.validate(); }), "nothing");
}

TEST(ADetectorModel, TellsHowItsBoxesLieAroundFaces) {
  const BoxConvention convention = sample().convention();
  const Similarity face{10, 0, 50, 40};
  const Box box = convention.box(face);
  EXPECT_FLOAT_EQ(box.width, 20);  // 4 cells of half a unit of 10 px
  EXPECT_NEAR(convention.similarity(box).x, 50, 1e-4);
  EXPECT_NEAR(convention.similarity(box).y, 40, 1e-4);
}

}  // namespace
}  // namespace sdm::face
