#include "sdm/descent/cascade.h"

#include "sdm/descent/partition.h"
#include "sdm/io/bytes.h"
#include "tests/descent/problems.h"
#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm {
namespace {

using io::expect_error;

// A whole map, one of rank 2, and a whole one for other features.
template <class Scalar>
Cascade<Scalar> sample_cascade() {
  Cascade<Scalar> cascade;
  cascade.state_size = 4;
  cascade.maps.emplace_back(random_matrix<Scalar>(3, 7, 1), random_vector<Scalar>(3, 2));
  cascade.maps.emplace_back(random_matrix<Scalar>(3, 2, 3), random_matrix<Scalar>(2, 7, 4),
                            random_vector<Scalar>(3, 5));
  cascade.maps.emplace_back(random_matrix<Scalar>(3, 9, 6), random_vector<Scalar>(3, 7));
  return cascade;
}

TEST(DescentMap, SubtractsItsProductFromItsBias) {
  const auto cascade = sample_cascade<double>();
  Vector<double> scratch(2), delta(3);
  for (const auto& map : cascade.maps) {
    const Vector<double> f = random_vector<double>(map.feature_size(), 8);
    map.apply(f, scratch, delta);
    EXPECT_LT(relative_gap(delta, map.bias() - map.matrix() * f), 1e-14);
  }
  EXPECT_LT(relative_gap(cascade.maps[1].matrix(),
                         random_matrix<double>(3, 2, 3) * random_matrix<double>(2, 7, 4)),
            1e-15);
}

TEST(DescentMap, RefusesFactorsThatDoNotFit) {
  expect_error([] { DescentMap<double>(Matrix<double>(3, 7), Vector<double>(2)); },
               "a descent map has 3 rows but a bias of 2");
  expect_error(
      [] { DescentMap<double>(Matrix<double>(3, 2), Matrix<double>(4, 7), Vector<double>(3)); },
      "factors 3x2 and 4x7 and a bias of 3");
  expect_error(
      [] { DescentMap<double>(Matrix<double>(3, 0), Matrix<double>(0, 7), Vector<double>(3)); },
      "factors 3x0 and 0x7 and a bias of 3, expected MxR, RxN and M with a rank R of at least 1");
}

TEST(Cascade, KnowsItsSizes) {
  const auto cascade = sample_cascade<float>();
  EXPECT_EQ(cascade.stages(), 3);
  EXPECT_EQ(cascade.delta_size(), 3);
  EXPECT_EQ(cascade.largest_feature_size(), 9);
  EXPECT_EQ(cascade.largest_rank(), 2);
  EXPECT_EQ(Cascade<float>().stages(), 0);
  EXPECT_EQ(Cascade<float>().delta_size(), 0);
}

template <class Scalar>
void expect_round_trip() {
  const auto cascade = sample_cascade<Scalar>();
  const auto bytes = io::to_bytes(cascade.to_model());
  const auto back = Cascade<Scalar>::from_model(io::read(bytes));
  EXPECT_EQ(back.state_size, 4);
  EXPECT_TRUE(same_bits(back, cascade));
  EXPECT_EQ(back.maps[0].rank(), 0);
  EXPECT_EQ(back.maps[1].rank(), 2);
}

TEST(Cascade, GoesThroughAModelFileToTheBit) {
  expect_round_trip<float>();
  expect_round_trip<double>();
}

TEST(Cascade, GoesThroughAFileWithWhetherItHasATemplate) {
  const TemporaryFolder folder;
  auto cascade = sample_cascade<double>();
  for (const bool known : {true, false}) {
    cascade.template_known = known;
    cascade.save(folder / "cascade.sdm");
    const auto back = Cascade<double>::load(folder / "cascade.sdm");
    EXPECT_TRUE(same_bits(back, cascade));
    EXPECT_EQ(back.template_known, known);
  }
  expect_error([&] { Partition<double>::load(folder / "cascade.sdm"); }, "cascade.sdm: ");
}

TEST(Cascade, ReadsInTheOtherScalar) {
  const auto wide = sample_cascade<double>();
  const auto narrow = Cascade<float>::from_model(io::read(io::to_bytes(wide.to_model())));
  EXPECT_LT(relative_gap(narrow.maps[0].matrix(), wide.maps[0].matrix()), 1e-6);
}

TEST(Cascade, RefusesAModelThatIsNotOne) {
  const io::Model good = sample_cascade<float>().to_model();
  const auto refuse = [&](auto&& change, const std::string& part) {
    io::Model model = good;
    change(model);
    expect_error([&] { Cascade<float>::from_model(model); }, part);
  };
  refuse([](io::Model& m) { m.kind = "face"; }, "face");
  refuse([](io::Model& m) { m.header = R"({"stages": 3, "state_size": 4})"; }, "template_known");
  refuse([](io::Model& m) { m.header = "{}"; }, "the header of the cascade is not as expected");
  refuse(
      [](io::Model& m) {
        m.header = R"({"stages": "3", "state_size": 4, "template_known": true})";
      },
      "'stages' is \"3\", expected a whole number");
  refuse(
      [](io::Model& m) { m.header = R"({"stages": 3, "state_size": -4, "template_known": true})"; },
      "the cascade's states have -4 values");
  refuse(
      [](io::Model& m) { m.header = R"({"stages": -1, "state_size": 4, "template_known": true})"; },
      "-1 stages");
  refuse(
      [](io::Model& m) {
        m.header = R"({"stages": 2000000000, "state_size": 4, "template_known": true})";
      },
      "2000000000 stages");
  refuse(
      [](io::Model& m) { m.header = R"({"stages": 4, "state_size": 4, "template_known": true})"; },
      "stage3.right");
  refuse([](io::Model& m) { m.tensors.erase("stage0.bias"); }, "stage0.bias");
  refuse([](io::Model& m) { m.tensors.erase("stage1.left"); }, "a descent map has 2 rows");
  refuse(
      [](io::Model& m) {
        m.tensors.erase("stage2.right");
        m.tensors.erase("stage2.bias");
        m.put("stage2.right", io::to_tensor(Matrix<float>(Matrix<float>::Zero(5, 9))));
        m.put("stage2.bias", io::to_tensor(Vector<float>(Vector<float>::Zero(5))));
      },
      "stage 2 of the model moves 5 values, expected 3");
}

}  // namespace
}  // namespace sdm
