#include "sdm/descent/online.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <limits>
#include <random>

#include "sdm/base/error.h"
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

INSTANTIATE_TEST_SUITE_P(UnknownAndKnownTemplate, Online, testing::Bool());

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
    EXPECT_EQ(online.inverse_covariances()[k], trained.inverse_covariances[k]);
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
