#include "sdm/descent/online.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <limits>
#include <random>

#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/descent/train/train.h"
#include "sdm/io/bytes.h"

namespace sdm {
namespace {

// y unknown: h depends on a hidden value of the sample as well as on x.
struct Hidden {
  using Scalar = double;
  Matrix<double> hidden;  // one column a sample
  bool known = false;

  Index samples() const { return hidden.cols(); }
  Index state_size() const { return 2; }
  Index feature_size(int) const { return 5; }
  bool template_known() const { return known; }
  void features(Index i, int stage, ConstVectorRef<double> x, VectorRef<double> out) const {
    const double a = hidden(0, i), b = hidden(1, i);
    out << std::sin(x[0] - a), x[1] - b + 0.1 * x[0], std::cos(x[1] - b), (x[0] - a) * (x[1] - b),
        0.5 * stage + std::tanh(x[0] - a);
  }
};

struct Data {
  Hidden problem;
  Matrix<double> starts, targets;
};

Data make(Index samples, unsigned seed, bool known) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto draw = [&] { return normal(random); };
  Data data;
  data.problem.hidden = Matrix<double>::NullaryExpr(2, samples, draw);
  data.problem.known = known;
  data.targets = data.problem.hidden;
  data.starts = data.targets + Matrix<double>::NullaryExpr(2, samples, draw);
  return data;
}

TrainOptions online_options() {
  TrainOptions options;
  options.stages = 3;
  options.penalty = Penalty::given(0.3);
  options.keep_inverse_covariance = true;
  return options;
}

struct Pairs {
  std::vector<Vector<double>> phi, delta;
  std::vector<double> weight;
};

// The batch ridge solution [-R, b] on weighted pairs, with a penalty on all but the bias.
Matrix<double> batch(const Pairs& pairs, double penalty, bool bias) {
  const Index d = pairs.phi.front().size();
  Matrix<double> sigma = penalty * Matrix<double>::Identity(d, d);
  if (bias) sigma(d - 1, d - 1) = 0;
  Matrix<double> cross = Matrix<double>::Zero(d, pairs.delta.front().size());
  for (std::size_t i = 0; i < pairs.phi.size(); ++i) {
    sigma += pairs.weight[i] * pairs.phi[i] * pairs.phi[i].transpose();
    cross += pairs.weight[i] * pairs.phi[i] * pairs.delta[i].transpose();
  }
  return sigma.ldlt().solve(cross).transpose();
}

Matrix<double> joined(const DescentMap<double>& map, bool bias) {
  Matrix<double> all(map.delta_size(), map.feature_size() + (bias ? 1 : 0));
  all.leftCols(map.feature_size()) = -map.matrix();
  if (bias) all.rightCols(1) = map.bias();
  return all;
}

void append(Pairs& pairs, const Vector<double>& features, const Vector<double>& delta,
            double weight, bool bias) {
  Vector<double> phi(features.size() + (bias ? 1 : 0));
  phi.head(features.size()) = features;
  if (bias) phi[features.size()] = 1;
  pairs.phi.push_back(phi);
  pairs.delta.push_back(delta);
  pairs.weight.push_back(weight);
}

// Every stage's training pairs: the samples where the trained maps took them.
std::vector<Pairs> training_pairs(const Data& data, const Cascade<double>& cascade, bool bias) {
  std::vector<Pairs> pairs(cascade.maps.size());
  Vector<double> f(5), delta(2), scratch(0);
  for (Index i = 0; i < data.problem.samples(); ++i) {
    Vector<double> x = data.starts.col(i);
    for (int k = 0; k < cascade.stages(); ++k) {
      data.problem.features(i, k, x, f);
      append(pairs[static_cast<std::size_t>(k)], f, data.targets.col(i) - x, 1, bias);
      cascade.maps[static_cast<std::size_t>(k)].apply(f, scratch, delta);
      x += delta;
    }
  }
  return pairs;
}

class Online : public testing::TestWithParam<bool> {};

TEST_P(Online, MapsEqualTheBatchRidgeSolutionOnTheWeightedUnionAfterAnySequenceOfUpdates) {
  const bool known = GetParam(), bias = !known;
  const Data old_data = make(60, 1, known), new_data = make(25, 2, known);
  const auto trained = train(old_data.problem, old_data.starts, old_data.targets, online_options());
  std::vector<Pairs> pairs = training_pairs(old_data, trained.cascade, bias);
  OnlineCascade<double> online = sdm::online(trained);

  const double weights[] = {1, 0.5, 7, 2};
  Vector<double> f(5), delta(2), scratch(0);
  for (Index i = 0; i < new_data.problem.samples(); ++i) {
    const double w = weights[i % 4];
    online.update(new_data.problem, i, new_data.starts.col(i), new_data.targets.col(i),
                  {.weight = w});
    // The pair of stage k+1 stands where the updated map k put the sample: the paper's step 3.
    Vector<double> x = new_data.starts.col(i);
    for (int k = 0; k < online.cascade().stages(); ++k) {
      new_data.problem.features(i, k, x, f);
      append(pairs[static_cast<std::size_t>(k)], f, new_data.targets.col(i) - x, w, bias);
      online.cascade().maps[static_cast<std::size_t>(k)].apply(f, scratch, delta);
      x += delta;
    }
  }
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const Matrix<double> expected = batch(pairs[k], 0.3, bias);
    EXPECT_LT((joined(online.cascade().maps[k], bias) - expected).cwiseAbs().maxCoeff(), 1e-8)
        << "stage " << k;
  }
}

TEST_P(Online, ForgettingGivesSampleIOfNTheWeightLambdaToTheNMinusI) {
  const bool known = GetParam(), bias = !known;
  const Data old_data = make(60, 3, known), new_data = make(30, 4, known);
  const auto trained = train(old_data.problem, old_data.starts, old_data.targets, online_options());
  const double lambda = 0.9;
  OnlineCascade<double> online = sdm::online(trained);
  Pairs pairs;
  Vector<double> f(5);
  const Index n = new_data.problem.samples();
  for (Index i = 0; i < old_data.problem.samples(); ++i) {
    old_data.problem.features(i, 0, old_data.starts.col(i), f);
    append(pairs, f, old_data.targets.col(i) - old_data.starts.col(i), std::pow(lambda, n), bias);
  }
  for (Index i = 0; i < n; ++i) {
    new_data.problem.features(i, 0, new_data.starts.col(i), f);
    const Vector<double> delta = new_data.targets.col(i) - new_data.starts.col(i);
    online.update_stage(0, f, delta, {.forgetting = lambda});
    append(pairs, f, delta, std::pow(lambda, n - 1 - i), bias);
  }
  const Matrix<double> expected = batch(pairs, 0.3 * std::pow(lambda, n), bias);
  EXPECT_LT((joined(online.cascade().maps[0], bias) - expected).cwiseAbs().maxCoeff(), 1e-8);
}

TEST_P(Online, ForgettingStaysThePapersWhereEveryDirectionIsSeenAsOftenAsInTraining) {
  const bool bias = !GetParam();
  Random random(4, "forgetting");
  const auto draw = [&](Index size) {
    return Vector<double>(Vector<double>::NullaryExpr(size, [&] { return random.normal(); }));
  };
  const double lambda = 0.98;
  const int old_samples = 60, n = 600;
  const Index size = bias ? 6 : 5;
  Pairs pairs;
  Matrix<double> sigma = 0.3 * Matrix<double>::Identity(size, size);
  if (bias) sigma(5, 5) = 0;
  for (int i = 0; i < old_samples; ++i) append(pairs, draw(5), draw(2), 1, bias);
  for (const Vector<double>& phi : pairs.phi) sigma += phi * phi.transpose();
  const Matrix<double> start = batch(pairs, 0.3, bias);
  Cascade<double> cascade;
  cascade.state_size = 2;
  cascade.template_known = !bias;
  cascade.maps.emplace_back(-start.leftCols(5),
                            bias ? Vector<double>(start.col(5)) : Vector<double>::Zero(2));
  OnlineCascade<double> online(cascade, std::vector<Matrix<double>>{sigma.inverse()});
  for (double& weight : pairs.weight) weight = std::pow(lambda, n);
  for (int i = 0; i < n; ++i) {
    append(pairs, draw(5), draw(2), std::pow(lambda, n - 1 - i), bias);
    online.update_stage(0, pairs.phi.back().head(5), pairs.delta.back(), {.forgetting = lambda});
  }
  const Matrix<double> expected = batch(pairs, 0.3 * std::pow(lambda, n), bias);
  EXPECT_LT((joined(online.cascade().maps[0], bias) - expected).cwiseAbs().maxCoeff(), 1e-8);
}

INSTANTIATE_TEST_SUITE_P(UnknownAndKnownTemplate, Online, testing::Bool());

// One stage of two features, as if trained on a hundred samples of unit variance.
template <class Scalar>
OnlineCascade<Scalar> two_features(bool bias) {
  Cascade<Scalar> cascade;
  cascade.state_size = 2;
  cascade.template_known = !bias;
  cascade.maps.emplace_back(Matrix<Scalar>::Identity(2, 2), Vector<Scalar>::Zero(2));
  const Index size = bias ? 3 : 2;
  return {cascade, std::vector<Matrix<double>>{0.01 * Matrix<double>::Identity(size, size)}};
}

template <class Scalar>
void expect_no_wind_up(bool bias) {
  SCOPED_TRACE(bias);
  OnlineCascade<Scalar> online = two_features<Scalar>(bias);
  const OnlineOptions options{.forgetting = 0.99};
  const Vector<Scalar> seen{{1, 0}};
  // What is seen changes half way, and the map follows: it forgets where it learns.
  for (const Scalar truth : {Scalar(0.5), Scalar(-2)}) {
    for (int i = 0; i < 500000; ++i) {
      const Scalar noise = static_cast<Scalar>(i % 2 == 0 ? 0.01 : -0.01);
      online.update_stage(0, seen, Vector<Scalar>{{truth + noise, truth - noise}}, options);
    }
    const DescentMap<Scalar>& map = online.cascade().maps[0];
    const Vector<Scalar> delta = map.bias() - map.matrix() * seen;
    EXPECT_LT((delta - Vector<Scalar>::Constant(2, truth)).norm(), 0.01);
  }
  ASSERT_TRUE(online.cascade().maps[0].matrix().allFinite());
  ASSERT_TRUE(online.inverse_covariances()[0].allFinite());
  const double before = online.cascade().maps[0].matrix().norm();
  online.update_stage(0, Vector<Scalar>{{0, 1}}, Vector<Scalar>{{30, -30}}, options);
  const double after = online.cascade().maps[0].matrix().norm();
  EXPECT_LT(after, 2 * before);
  EXPECT_GT(after, before / 2);
}

TEST(OnlineCascade, DoesNotWindUpInAMillionUpdatesThatSeeOneDirection) {
  for (const bool bias : {true, false}) {
    expect_no_wind_up<double>(bias);
    expect_no_wind_up<float>(bias);
  }
}

TEST(OnlineCascade, LearnsWhereTrainingLeftNextToNoInformation) {
  // As a late stage that every sample had reached: variances of 1e30, and one sample after another.
  Cascade<double> cascade = two_features<double>(true).cascade();
  OnlineCascade<double> online(cascade,
                               std::vector<Matrix<double>>{1e30 * Matrix<double>::Identity(3, 3)});
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const Matrix<double> truth{{0.5, -1}, {2, 0.25}};
  for (int i = 0; i < 40; ++i) {
    const Vector<double> f{{normal(random), normal(random)}};
    online.update_stage(0, f, Vector<double>{{1, 2}} - truth * f, {.weight = 50});
  }
  EXPECT_LT((online.cascade().maps[0].matrix() - truth).norm(), 1e-6);
  EXPECT_GE(online.inverse_covariances()[0].diagonal().minCoeff(), 0);
}

TEST(OnlineCascade, StaysFiniteWhereSamplesSayNextToNothing) {
  OnlineCascade<double> online = two_features<double>(false);
  for (int i = 0; i < 2000; ++i) {
    const double size = i % 2 == 0 ? 0 : 1e-160;
    online.update_stage(0, Vector<double>::Constant(2, size), Vector<double>::Ones(2),
                        {.forgetting = 0.5});
  }
  EXPECT_TRUE(online.inverse_covariances()[0].allFinite());
  EXPECT_TRUE(online.cascade().maps[0].matrix().allFinite());
}

TEST(OnlineCascade, KeepsItsDigitsWhereFeaturesHaveALargeOffset) {
  // In single precision, 2000 away from zero: the batch solution in double precision is met.
  std::mt19937 random(12);
  std::normal_distribution<double> normal;
  const Matrix<double> f =
      Matrix<double>::NullaryExpr(4, 300, [&] { return 2000 + normal(random); })
          .cast<float>()
          .cast<double>();
  Matrix<double> d(2, 300);
  for (Index i = 0; i < 300; ++i)
    d.col(i) << f(0, i) - f(1, i) + 0.1 * normal(random), 0.5 * (f(2, i) - 2000);
  Pairs pairs;
  Matrix<double> sigma = 0.3 * Matrix<double>::Identity(5, 5);
  sigma(4, 4) = 0;
  for (Index i = 0; i < 50; ++i) append(pairs, f.col(i), d.col(i), 1, true);
  for (const Vector<double>& phi : pairs.phi) sigma += phi * phi.transpose();
  const Matrix<double> start = batch(pairs, 0.3, true);
  Cascade<float> cascade;
  cascade.state_size = 2;
  cascade.template_known = false;
  cascade.maps.emplace_back(-start.leftCols(4).cast<float>(), start.col(4).cast<float>());
  OnlineCascade<float> online(cascade, std::vector<Matrix<double>>{sigma.inverse()});
  for (Index i = 50; i < 300; ++i) {
    online.update_stage(0, f.col(i).cast<float>(), d.col(i).cast<float>());
    append(pairs, f.col(i), d.col(i), 1, true);
  }
  const Matrix<double> expected = batch(pairs, 0.3, true);
  EXPECT_LT((-online.cascade().maps[0].matrix().cast<double>() - expected.leftCols(4)).norm(),
            2e-3);
}

TEST(OnlineCascade, RefusesAnInverseCovarianceThatIsNotPositiveDefinite) {
  const Cascade<double> cascade = two_features<double>(true).cascade();
  Matrix<double> bad = Matrix<double>::Identity(3, 3);
  bad(0, 1) = bad(1, 0) = 2;
  EXPECT_THROW(OnlineCascade<double>(cascade, std::vector<Matrix<double>>{bad}), Error);
  bad = Matrix<double>::Identity(3, 3);
  bad(2, 0) = bad(0, 2) = 1.1;
  EXPECT_THROW(OnlineCascade<double>(cascade, std::vector<Matrix<double>>{bad}), Error);
}

TEST(OnlineCascade, ReadsAFileWhoseCovariancesAreNotAboutAMean) {
  const Data data = make(40, 7, false), more = make(20, 8, false);
  OnlineCascade<double> online =
      sdm::online(train(data.problem, data.starts, data.targets, online_options()));
  io::Model old = online.to_model();
  for (int k = 0; k < 3; ++k) {
    const std::string prefix = "stage" + std::to_string(k) + ".";
    for (const char* name : {"inverse_covariance", "mean", "weight", "reference"})
      old.tensors.erase(prefix + name);
    old.put(prefix + "inverse_covariance",
            io::to_tensor(online.inverse_covariances()[static_cast<std::size_t>(k)]));
  }
  auto back = OnlineCascade<double>::from_model(old);
  for (Index i = 0; i < 20; ++i) {
    online.update(more.problem, i, more.starts.col(i), more.targets.col(i));
    back.update(more.problem, i, more.starts.col(i), more.targets.col(i));
  }
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_LT((joined(back.cascade().maps[k], true) - joined(online.cascade().maps[k], true))
                  .cwiseAbs()
                  .maxCoeff(),
              1e-9);
}

TEST(OnlineCascade, LearnsASampleThatItWeighsHeavily) {
  const Data data = make(60, 5, false);
  Data odd = make(1, 6, false);
  odd.targets.array() += 3;  // labelled unlike anything in training
  OnlineCascade<double> online =
      sdm::online(train(data.problem, data.starts, data.targets, online_options()));
  const auto error = [&] {
    Vector<double> x = odd.starts.col(0), f(5), delta(2), scratch(0);
    for (int k = 0; k < 3; ++k) {
      odd.problem.features(0, k, x, f);
      online.cascade().maps[static_cast<std::size_t>(k)].apply(f, scratch, delta);
      x += delta;
    }
    return (x - odd.targets.col(0)).norm();
  };
  const double before = error();
  online.update(odd.problem, 0, odd.starts.col(0), odd.targets.col(0), {.weight = 1000});
  EXPECT_LT(error(), 0.05 * before);
}

TEST(OnlineCascade, SurvivesAModelFile) {
  const Data data = make(40, 7, false);
  const OnlineCascade<double> online =
      sdm::online(train(data.problem, data.starts, data.targets, online_options()));
  const auto back = OnlineCascade<double>::from_model(io::read(io::to_bytes(online.to_model())));
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(back.cascade().maps[k].matrix(), online.cascade().maps[k].matrix());
    EXPECT_EQ(back.inverse_covariances()[k], online.inverse_covariances()[k]);
  }
}

TEST(OnlineCascade, LeavesTheRowOfAnUnknownDeltaAsItIs) {
  const Data data = make(40, 7, false);
  const OnlineCascade<double> before =
      sdm::online(train(data.problem, data.starts, data.targets, online_options()));
  OnlineCascade<double> known = before, half = before;
  const Vector<double> f{{1, -1, 0.5, 2, 0}}, delta{{3, -4}};
  known.update_stage(0, f, delta);
  half.update_stage(0, f, Vector<double>{{3, std::numeric_limits<double>::quiet_NaN()}});
  EXPECT_EQ(half.cascade().maps[0].matrix().row(0), known.cascade().maps[0].matrix().row(0));
  EXPECT_EQ(half.cascade().maps[0].matrix().row(1), before.cascade().maps[0].matrix().row(1));
  EXPECT_NE(known.cascade().maps[0].matrix().row(1), before.cascade().maps[0].matrix().row(1));
  EXPECT_EQ(half.inverse_covariances()[0], known.inverse_covariances()[0]);
  EXPECT_THROW(half.update_stage(0, f, delta / 0.0), Error);
}

// Its last stage fails.
struct Failing : Hidden {
  void features(Index i, int stage, ConstVectorRef<double> x, VectorRef<double> out) const {
    Hidden::features(i, stage, x, out);
    if (stage == 2) out[1] = std::numeric_limits<double>::quiet_NaN();
  }
};

TEST(OnlineCascade, IsAsItWasAfterAnUpdateThatFails) {
  const Data data = make(40, 9, false);
  const auto trained = train(data.problem, data.starts, data.targets, online_options());
  OnlineCascade<double> online = sdm::online(trained);
  const Vector<double> x0 = data.starts.col(0), target = data.targets.col(0);
  EXPECT_THROW(online.update(Failing{data.problem}, 0, x0, target), Error);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(online.cascade().maps[k].matrix(), trained.cascade.maps[k].matrix());
    EXPECT_EQ(online.inverse_covariances()[k], trained.inverse_covariances[k].plain());
  }
}

TEST(OnlineCascade, RefusesAProblemAStartOrATargetThatDoesNotFit) {
  const Data data = make(40, 10, false);
  OnlineCascade<double> online =
      sdm::online(train(data.problem, data.starts, data.targets, online_options()));
  const Vector<double> two = Vector<double>::Zero(2), three = Vector<double>::Zero(3);
  EXPECT_THROW(online.update(data.problem, 0, three, two), Error);
  EXPECT_THROW(online.update(data.problem, 0, two, three), Error);
  const auto narrow =
      function_problem<double>([](const auto& x, auto&& out) { out = x; }, 2, 2, 1, {});
  EXPECT_THROW(online.update(narrow, 0, two, two), Error);
  EXPECT_NO_THROW(online.update(data.problem, 0, two, two));
}

TEST(OnlineCascade, RejectsBadInput) {
  const Data data = make(40, 8, false);
  auto trained = train(data.problem, data.starts, data.targets, online_options());
  OnlineCascade<double> online = sdm::online(trained);
  Vector<double> f = Vector<double>::Ones(5), delta = Vector<double>::Ones(2);
  EXPECT_THROW(online.update_stage(3, f, delta), Error);
  EXPECT_THROW(online.update_stage(0, Vector<double>::Ones(4), delta), Error);
  EXPECT_THROW(online.update_stage(0, f / 0.0, delta), Error);
  EXPECT_THROW(online.update_stage(0, f, delta, {.weight = 0}), Error);
  EXPECT_THROW(online.update_stage(0, f, delta, {.forgetting = 1.5}), Error);
  trained.inverse_covariances.pop_back();
  EXPECT_THROW(sdm::online(trained), Error);
}

}  // namespace
}  // namespace sdm
