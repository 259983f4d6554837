#include "sdm/descent/train/learn.h"

#include <Eigen/LU>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>

#include "sdm/base/thread_pool.h"
#include "sdm/descent/train/train_partition.h"
#include "tests/allocation_count.h"
#include "tests/io/expect_error.h"
#include "tests/linear/random.h"

namespace sdm {
namespace {

using io::expect_error;
constexpr auto kLog = Axis::Scale::kLog;

// A decay over 40 points: amplitude, rate, offset.
constexpr Index kPoints = 40;
const auto kDecay = [](const auto& x, auto&& out) {
  for (Index i = 0; i < kPoints; ++i) out[i] = x[0] * std::exp(-x[1] * 0.1 * double(i)) + x[2];
};
const auto kDecayBlock = batched([](const auto& x, auto&& out) {
  for (Index c = 0; c < x.cols(); ++c)
    for (Index i = 0; i < kPoints; ++i)
      out(i, c) = x(0, c) * std::exp(-x(1, c) * 0.1 * double(i)) + x(2, c);
});
Box decay_box() { return {{0.5, 2}, {0.3, 3, kLog, "rate"}, {-0.5, 0.5}}; }

LearnOptions small(Noise noise = Noise::gaussian(0.01)) {
  LearnOptions options;
  options.features = kPoints;
  options.noise = std::move(noise);
  options.samples = 4000;
  options.calibration = 3000;
  options.threads = 2;
  return options;
}

struct Problems {
  Matrix<double> x, y;
};

/// Truths from a box `range` times as wide, and what is measured of them.
template <class H>
Problems problems(const H& h, Index features, const Box& box, const Noise& noise, Index count,
                  double range = 1, std::uint64_t seed = 5) {
  Problems p{Matrix<double>(box.size(), count), Matrix<double>(features, count)};
  for (Index i = 0; i < count; ++i) {
    Random random(seed, "test problems", static_cast<std::uint64_t>(i));
    for (Index j = 0; j < box.size(); ++j)
      p.x(j, i) = box.from_unit(j, range * random.uniform(-1, 1));
    Vector<double> y(features);
    h(Vector<double>(p.x.col(i)), VectorRef<double>(y));
    noise.add(y, random);
    p.y.col(i) = y;
  }
  return p;
}

/// The best fit of every problem: Levenberg-Marquardt from the truth.
Matrix<double> best_fits(const Problems& p) {
  Matrix<double> x = p.x;
  Refiner<> refiner(x.rows(), p.y.rows());
  for (Index i = 0; i < x.cols(); ++i) {
    const auto residual = [&](const auto& at, auto&& out) {
      kDecay(at, out);
      out -= p.y.col(i);
    };
    refiner.refine(x.col(i), residual);
  }
  return x;
}

/// Root mean square of each value's error.
Vector<double> errors(const Matrix<double>& x, const Matrix<double>& truth) {
  return ((x - truth).rowwise().squaredNorm() / double(x.cols())).cwiseSqrt();
}

const Learned& decay_solver() {
  static const Learned learned = learn(kDecay, decay_box(), small());
  return learned;
}

TEST(Learn, FitsNoisyMeasurementsAsWellAsLevenbergMarquardtDoes) {
  const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.01), 3000);
  const Answers answers = decay_solver().solve_batch(p.y);
  const Vector<double> ours = errors(answers.x, p.x), best = errors(best_fits(p), p.x);
  for (Index j = 0; j < 3; ++j) EXPECT_LT(ours[j], 1.05 * best[j]) << j;
  EXPECT_GT(answers.count(Trust::kTrusted), 2970);
}

TEST(Learn, SaysWhatItDid) {
  const std::string report = decay_solver().full_report();
  for (const char* part :
       {"3 states, 40 features", "normal, deviation 0.01", "rate", "log", "evaluations", "refused"})
    EXPECT_THAT(report, testing::HasSubstr(part));
  const auto& record = decay_solver().model().record;
  EXPECT_EQ(record.samples, 4000);
  for (std::size_t k = 1; k < record.held_out.size(); ++k)
    EXPECT_LT(record.held_out[k], record.held_out[k - 1]);
  const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.01), 4000);
  const Vector<double> fresh = errors(decay_solver().solve_batch(p.y).x, p.x);
  for (Index j = 0; j < 3; ++j) EXPECT_NEAR(record.error[j], fresh[j], 0.1 * fresh[j]);
}

// The way a first user went wrong: exact examples, noisy measurements.
TEST(Learn, DoesNotTrustNoisyMeasurementsThatItLearnedAsExact) {
  const Learned exact = learn(kDecay, decay_box(), small(Noise()));
  const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.02), 500);
  const Answers answers = exact.solve_batch(p.y);
  EXPECT_EQ(answers.count(Trust::kTrusted), 0);
  EXPECT_EQ(answers.count(Trust::kRefined), 0);
  EXPECT_THAT(exact.solve(p.y.col(0)).message(),
              testing::HasSubstr("as noisy as learning was told"));
  // On exact measurements it is trusted, and right.
  const Problems good = problems(kDecay, kPoints, decay_box(), Noise(), 500);
  const Answers right = exact.solve_batch(good.y);
  EXPECT_GE(right.count(Trust::kTrusted) + right.count(Trust::kRefined), 499);
  EXPECT_LT(errors(right.x, good.x).maxCoeff(), 1e-4);
}

// An answer is wrong if it is further from the truth than five standard errors of the best fit.
TEST(Learn, IsHardlyEverSilentlyWrongBeyondItsRange) {
  for (const double range : {1.0, 1.5, 2.0}) {
    const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.01), 4000, range);
    const Answers answers = decay_solver().solve_batch(p.y);
    Index wrong = 0, outside_truth = 0, refused = 0;
    for (Index i = 0; i < 4000; ++i) {
      Matrix<double> jacobian(kPoints, 3);
      for (Index t = 0; t < kPoints; ++t) {
        const double time = 0.1 * double(t), e = std::exp(-p.x(1, i) * time);
        jacobian.row(t) << e, -p.x(0, i) * time * e, 1;
      }
      const Matrix<double> covariance =
          1e-4 * Matrix<double>((jacobian.transpose() * jacobian).inverse());
      bool far = false;
      for (Index j = 0; j < 3; ++j)
        far = far || std::abs(answers.x(j, i) - p.x(j, i)) > 5 * std::sqrt(covariance(j, j));
      const Trust trust = answers.trust[static_cast<std::size_t>(i)];
      const bool trusted = trust == Trust::kTrusted || trust == Trust::kRefined;
      wrong += far && trusted;
      refused += !trusted;
      outside_truth += !decay_box().contains(p.x.col(i));
    }
    EXPECT_LE(wrong, range == 1 ? 4 : 20) << "range " << range;
    // It refuses what is outside and little else.
    EXPECT_LT(std::abs(double(refused - outside_truth)), 0.15 * outside_truth + 20)
        << "range " << range;
  }
}

TEST(Learn, GivesTheSameErrorInAnyUnits) {
  const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.01), 2000);
  Vector<double> sigma = Vector<double>::Constant(kPoints, 0.01);
  const auto run = [&](double feature_unit, double state_unit) {
    const auto h = [=](const auto& x, auto&& out) {
      const Vector<double> in_units{{x[0] / state_unit, x[1], x[2]}};
      kDecay(in_units, out);
      out[3] *= feature_unit;
      out[17] *= feature_unit;
    };
    Vector<double> deviations = sigma;
    deviations[3] *= feature_unit;
    deviations[17] *= feature_unit;
    Box box{{0.5 * state_unit, 2 * state_unit}, {0.3, 3, kLog}, {-0.5, 0.5}};
    Matrix<double> y = p.y;
    y.row(3) *= feature_unit;
    y.row(17) *= feature_unit;
    Matrix<double> x = learn(h, box, small(Noise::gaussian(deviations))).solve_batch(y).x;
    x.row(0) /= state_unit;
    return errors(x, p.x);
  };
  const Vector<double> plain = run(1, 1);
  for (const auto& [feature, state] : {std::pair{1e6, 1.0}, {1e-6, 1.0}, {1.0, 1e6}, {1.0, 1e-6}})
    for (Index j = 0; j < 3; ++j)
      EXPECT_NEAR(run(feature, state)[j], plain[j], 0.01 * plain[j]) << feature << " " << state;
}

TEST(Learn, GivesARadiusThatHoldsAsOftenAsItSays) {
  LearnOptions options = small();
  options.calibration = 12000;
  const Learned learned = learn(kDecayBlock, decay_box(), options);
  constexpr Index count = 100000;
  const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.01), count, 1, 11);
  ThreadPool pool(2);
  const auto share = [&](double confidence) {
    LearnedSolveOptions solve_options;
    solve_options.confidence = confidence;
    const Answers answers = learned.solve_batch(p.y, pool, solve_options);
    Index held = 0;
    for (Index i = 0; i < count; ++i)
      held += ((answers.x.col(i) - p.x.col(i)).cwiseAbs().array() <= answers.radius.col(i).array())
                  .all();
    return double(held) / count;
  };
  EXPECT_GE(share(0.99), 0.985);
  EXPECT_LE(share(0.99), 0.995);
  EXPECT_NEAR(share(0.8), 0.8, 0.015);
}

TEST(Learn, GivesTheSameBitsForAnyNumberOfThreadsAndEitherKindOfFunction) {
  LearnOptions options = small();
  options.samples = 1000;
  options.calibration = 500;
  options.threads = 1;
  const auto model_of = [&](const auto& h) {
    LearnedModel model = learn(h, decay_box(), options).model();
    model.record.seconds = 0;
    return model.to_model();
  };
  const io::Model one = model_of(kDecay);
  options.threads = 3;
  EXPECT_EQ(model_of(kDecay), one);
  EXPECT_EQ(model_of(kDecayBlock), one);
  options.seed = 2;
  EXPECT_NE(model_of(kDecay), one);
}

TEST(Learn, SolvesABatchWithTheSameBitsAsOneByOneForAnyNumberOfThreads) {
  const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.01), 200, 1.2);
  const Answers all = decay_solver().solve_batch(p.y);
  ThreadPool pool(3);
  const Answers threaded = decay_solver().solve_batch(p.y, pool);
  EXPECT_EQ(threaded.x, all.x);
  EXPECT_EQ(threaded.radius, all.radius);
  EXPECT_EQ(threaded.trust, all.trust);
  EXPECT_EQ(threaded.evaluations, all.evaluations);
  for (Index i = 0; i < 200; i += 13) {
    const Answer one = decay_solver().solve(p.y.col(i));
    EXPECT_EQ(one.x, Vector<double>(all.x.col(i)));
    EXPECT_EQ(one.trust, all.trust[static_cast<std::size_t>(i)]);
    EXPECT_EQ(one.residual, all.residual[i]);
    EXPECT_TRUE(one.x.allFinite());
  }
  Vector<double> residual(kPoints);
  kDecay(Vector<double>(all.x.col(0)), VectorRef<double>(residual));
  EXPECT_NEAR(all.residual[0], (residual - p.y.col(0)).norm(), 1e-12);
}

TEST(Learn, AllocatesNothingForASingleFit) {
  if (!counts_allocations) GTEST_SKIP() << "the sanitizers allocate themselves";
  const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.01), 4096, 1.3);
  const auto counted = [&](Index count) {
    const Matrix<double> y = p.y.leftCols(count);
    const int before = allocations;
    decay_solver().solve_batch(y);
    return allocations - before;
  };
  counted(64);
  EXPECT_EQ(counted(64), counted(4096));
}

TEST(Learn, EvaluatesHAsOftenAsItSaysAndOnceForACommonStart) {
  std::atomic<Index> calls = 0;
  const auto h = [&](const auto& x, auto&& out) {
    ++calls;
    kDecay(x, out);
  };
  const Learned learned = learn(h, decay_box(), small());
  const auto& record = learned.model().record;
  EXPECT_EQ(calls, record.evaluations);
  const Index n = record.samples, fresh = record.calibration;
  const Index stages = static_cast<Index>(learned.model().stages.size());
  // The examples; the common start and the stages after it (one more if the last was not worth it);
  // the fresh ones, each a draw, the stages and the answer; a few of them refined.
  const Index descent = calls - n - fresh - fresh * stages;
  EXPECT_LE(descent, n * stages + 1 + fresh / 5);
  EXPECT_GE(descent, n * (stages - 1) + 1);
  calls = 0;
  const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.01), 1);
  EXPECT_EQ(learned.solve(p.y.col(0)).evaluations, calls);
}

TEST(Learn, KeepsToItsBudget) {
  LearnOptions options = small();
  options.evaluations = 6000;
  const Learned few = learn(kDecay, decay_box(), options);
  EXPECT_LT(few.model().record.evaluations, 9000);
  EXPECT_LT(few.model().record.samples, 1000);
  options.evaluations = 0;
  options.seconds = 1e-4;
  EXPECT_EQ(learn(kDecay, decay_box(), options).model().record.samples, 100);
}

// Two joints: a wide range that one map cannot serve, no noise.
TEST(Learn, ReachesTheAccuracyOfAGridOf64CellsInTwentyEvaluations) {
  const auto arm = [](const auto& x, auto&& out) {
    out[0] = std::cos(x[0]) + 0.7 * std::cos(x[0] + x[1]);
    out[1] = std::sin(x[0]) + 0.7 * std::sin(x[0] + x[1]);
  };
  const Box box{{-1.5, 1.5}, {0.3, 2.5}};
  LearnOptions options;
  options.features = 2;
  options.samples = 6000;
  options.calibration = 1000;
  const Learned learned = learn(arm, box, options);
  EXPECT_TRUE(std::any_of(learned.model().stages.begin(), learned.model().stages.end(),
                          [](const LearnedStage& stage) { return stage.maps.size() > 1; }));

  const Problems train = problems(arm, 2, box, Noise(), 6000, 1, 1);
  const Grid grid{Eigen::Vector2d(-1.5, 0.3), Eigen::Vector2d(1.5, 2.5), {8, 8}};
  TrainOptions train_options;
  train_options.stages = 6;
  const auto partition =
      train_grid(function_problem(arm, train.x, train.y), train.x, grid, train_options);

  const Problems test = problems(arm, 2, box, Noise(), 300, 1, 2);
  const auto test_problem = function_problem(arm, test.x, test.y);
  Matrix<double> by_grid = test.x, by_learning = test.x;
  for (Index i = 0; i < 300; ++i) {
    by_grid.col(i) = solve(partition, test_problem, i, Vector<double>(box.centre())).x;
    const Answer answer = learned.solve(test.y.col(i));
    EXPECT_LE(answer.evaluations, 20);
    by_learning.col(i) = answer.x;
  }
  EXPECT_LE(errors(by_learning, test.x).norm(), errors(by_grid, test.x).norm());
}

TEST(Learn, StartsWhereTheRuleSays) {
  // A peak whose place varies by six of its widths: from one common start its residual tells
  // nothing, from the highest point it does.
  constexpr Index n = 41;
  const auto peak = [](const auto& x, auto&& out) {
    for (Index i = 0; i < n; ++i)
      out[i] = std::exp(-0.5 * std::pow((double(i) - x[0]) / 2, 2)) * x[1];
  };
  const Box box{{8, 32}, {1, 3}};
  const auto highest = [](ConstVectorRef<double> y, VectorRef<double> x) {
    Index at = 0;
    x[1] = y.maxCoeff(&at);
    x[0] = double(at);
  };
  LearnOptions options = small(Noise::gaussian(0.05));
  options.features = n;
  options.start = highest;
  const Learned learned = learn(peak, box, options);
  const Problems p = problems(peak, n, box, Noise::gaussian(0.05), 1000);
  const Answers answers = learned.solve_batch(p.y);
  // The best that an unbiased fit can do is 0.05 / |dh/dx0|, and |dh/dx0| = 0.666 amplitudes.
  double bound = 0;
  for (Index i = 0; i < 1000; ++i) bound += std::pow(0.05 / (0.666 * p.x(1, i)), 2) / 1000;
  EXPECT_LT(errors(answers.x, p.x)[0], 1.4 * std::sqrt(bound));
  EXPECT_GT(answers.count(Trust::kTrusted), 980);
  expect_error([&] { Learned(learned.model(), peak); }, "start rule");
  EXPECT_EQ(Learned(learned.model(), peak, highest).solve(p.y.col(0)).x, answers.x.col(0));
  options.x0 = box.centre();
  expect_error([&] { learn(peak, box, options); }, "both given");
}

TEST(Learn, RefinesToTheBestFitWhereItIsAskedTo) {
  const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.01), 300);
  const Matrix<double> best = best_fits(p);
  LearnedSolveOptions always;
  always.refine = RefineWhen::kAlways;
  const Answers answers = decay_solver().solve_batch(p.y, always);
  EXPECT_EQ(answers.refined, 300);
  EXPECT_LT((answers.x - best).cwiseAbs().maxCoeff(), 1e-4);

  const auto jacobian = [](const auto& x, auto&& out) {
    for (Index i = 0; i < kPoints; ++i) {
      const double t = 0.1 * double(i), e = std::exp(-x[1] * t);
      out(i, 0) = e;
      out(i, 1) = -x[0] * t * e;
      out(i, 2) = 1;
    }
  };
  const Learned analytic(decay_solver().model(), with_jacobian(kDecay, jacobian));
  const Answers given = analytic.solve_batch(p.y, always);
  EXPECT_LT((given.x - best).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT(given.evaluations, answers.evaluations);
}

TEST(Learn, LearnsAroundHolesWhereHHasNoValue) {
  // No value for an eighth of the box, infinite values at its edge.
  const auto h = [](const auto& x, auto&& out) {
    out[0] = std::sqrt(x[0] + 0.75) + x[1];
    out[1] = 1 / std::max(0.0, x[0] + 0.75) * 1e-3 + x[0] - x[1];
    out[2] = x[0] * x[1];
  };
  LearnOptions options = small(Noise::gaussian(0.001));
  options.features = 3;
  const Box box{{-1, 1}, {-1, 1}};
  const Learned learned = learn(h, box, options);
  EXPECT_NEAR(double(learned.model().record.samples), 4000 * 7. / 8, 100);
  const Vector<double> truth{{0.4, -0.3}};
  Vector<double> y(3);
  h(truth, y);
  const Answer answer = learned.solve(y);
  EXPECT_TRUE(answer.trusted()) << answer.message();
  EXPECT_LT((answer.x - truth).norm(), 0.02);
  const auto nowhere = [](const auto& x, auto&& out) { out[0] = std::sqrt(x[0] - 0.9); };
  options.features = 1;
  expect_error([&] { learn(nowhere, Box{{-1, 1}}, options); }, "not numbers");
}

TEST(Learn, TakesManyStatesAndMoreFeaturesThanComponents) {
  constexpr Index n = 40, m = 1200;
  const Matrix<double> a = random_matrix<double>(m, n, 1);
  const auto h = [&](const auto& x) { return Vector<double>((0.3 * (a * x)).array().tanh()); };
  const Box box(std::vector<Axis>(n, Axis{-1, 1}));
  LearnOptions options = small(Noise::gaussian(0.01));
  options.samples = 2500;
  options.calibration = 800;
  options.max_components = 64;
  const Learned learned = learn(h, box, options);
  EXPECT_GE(learned.model().components.rows(), n);
  const auto fill = [&](const auto& x, auto&& out) { out = h(x); };
  const Problems p = problems(fill, m, box, Noise::gaussian(0.01), 100);
  const Answers answers = learned.solve_batch(p.y);
  EXPECT_LT(errors(answers.x, p.x).maxCoeff(), 0.05);
  EXPECT_GT(answers.count(Trust::kTrusted), 95);
}

TEST(Learn, MindsNoFeatureThatNeverVaries) {
  const auto h = [](const auto& x) {
    Vector<double> y(3);
    y << 7, std::sin(x[0]) + x[0], 0;
    return y;
  };
  LearnOptions options;
  options.samples = 500;
  options.calibration = 500;
  const Learned learned = learn(h, Box{{-1, 1}}, options);
  EXPECT_NEAR(learned.solve(Vector<double>{{7, std::sin(0.5) + 0.5, 0}}).x[0], 0.5, 1e-3);
  const auto constant = [](const auto&) { return Vector<double>(Vector<double>::Ones(2)); };
  expect_error([&] { learn(constant, Box{{-1, 1}}, options); }, "no value of h varies");
}

TEST(Learn, KeepsWhatItLearnedInAFileWithoutH) {
  const io::Model file = decay_solver().to_model();
  EXPECT_EQ(file.kind, "learned");
  const Learned again(LearnedModel::from_model(file), kDecay);
  const Problems p = problems(kDecay, kPoints, decay_box(), Noise::gaussian(0.01), 100, 1.3);
  const Answers a = decay_solver().solve_batch(p.y), b = again.solve_batch(p.y);
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.radius, b.radius);
  EXPECT_EQ(a.trust, b.trust);
  EXPECT_EQ(again.full_report(), decay_solver().full_report());
  EXPECT_EQ(again.to_model(), file);
}

TEST(Learn, RefusesAFileWhoseSizesOrNumbersDoNotFit) {
  const io::Model good = decay_solver().to_model();
  const auto broken = [&](const char* name, const io::Tensor& tensor) {
    io::Model model = good;
    model.tensors[name] = tensor;
    return [model] { LearnedModel::from_model(model); };
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_error(broken("weight", io::to_tensor(Vector<double>(Vector<double>::Ones(3)))),
               "expected 3");
  expect_error(broken("components",
                      io::to_tensor(Matrix<double>(Matrix<double>::Constant(2, kPoints, nan)))),
               "not finite");
  expect_error(broken("stage0.cell0", io::to_tensor(Matrix<double>(Matrix<double>::Ones(2, 2)))),
               "rows of a map");
  expect_error(broken("gate.log_scales", io::to_tensor(Matrix<double>(Matrix<double>::Ones(1, 1)))),
               "scales");
  expect_error(broken("example_states", io::to_tensor(Matrix<double>(Matrix<double>::Ones(3, 5)))),
               "expected 5");
  io::Model other = good;
  other.kind = "cascade";
  expect_error([&] { LearnedModel::from_model(other); }, "cascade");
  other = good;
  other.header = "{}";
  expect_error([&] { LearnedModel::from_model(other); }, "header");
}

TEST(Learn, RefusesOptionsAndMeasurementsThatMakeNoSense) {
  const auto with = [](auto change) {
    LearnOptions options = small();
    change(options);
    return [options] { learn(kDecay, decay_box(), options); };
  };
  expect_error(with([](auto& o) { o.features = 0; }), "LearnOptions::features");
  expect_error(with([](auto& o) { o.samples = 3; }), "samples is 3");
  expect_error(with([](auto& o) { o.calibration = 1; }), "calibration is 1");
  expect_error(with([](auto& o) { o.max_order = 3; }), "max_order is 3");
  expect_error(with([](auto& o) { o.max_bits = 7; }), "max_bits is 7");
  expect_error(with([](auto& o) { o.x0 = Vector<double>::Ones(2); }), "x0 has 2 values");
  expect_error(with([](auto& o) { o.x0 = Vector<double>{{1, -1, 0}}; }), "no logarithm");
  expect_error(with([](auto& o) {
                 o.noise = Noise::gaussian(Vector<double>{{1, 2}});
               }),
               "2 deviations");
  Vector<double> y = Vector<double>::Ones(kPoints);
  y[4] = std::numeric_limits<double>::infinity();
  expect_error([&] { decay_solver().solve(y); }, "measurement 0");
  expect_error([&] { decay_solver().solve(y.head(3)); }, "y has 3 values");
  LearnedSolveOptions options;
  options.confidence = 1;
  expect_error([&] { decay_solver().solve(Vector<double>::Ones(kPoints), options); },
               "confidence is 1");
  options.confidence = 0.9;
  options.refine_options.lower = Vector<double>::Zero(3);
  expect_error([&] { decay_solver().solve(Vector<double>::Ones(kPoints), options); }, "bounds");
}

TEST(Learn, TellsHowFarItIs) {
  LearnOptions options = small();
  options.samples = options.calibration = 500;
  std::vector<double> shares;
  options.progress = [&](const char* activity, double share, double seconds_left) {
    EXPECT_NE(std::string(activity), "");
    EXPECT_GE(seconds_left, 0);
    shares.push_back(share);
  };
  learn(kDecay, decay_box(), options);
  ASSERT_GT(shares.size(), 3u);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
}

TEST(Batched, IsTakenWhereverAPlainFunctionIs) {
  const auto plain = [](const auto& x, auto&& out) {
    out[0] = std::sin(x[0]) + x[1] / 2;
    out[1] = x[1] - x[0] / 3;
  };
  const auto blocks = batched([](const auto& x, auto&& out) {
    out.row(0) = x.row(0).array().sin().matrix() + x.row(1) / 2;
    out.row(1) = x.row(1) - x.row(0) / 3;
  });
  const Problems p = problems(plain, 2, Box{{-1, 1}, {-1, 1}}, Noise(), 200);
  const Vector<double> start = Vector<double>::Zero(2);
  const auto by_plain = train(plain, start, p.x, p.y), by_blocks = train(blocks, start, p.x, p.y);
  const Vector<double> y = p.y.col(0);
  const Vector<double> a = solve(by_plain.cascade, plain, start, y).x;
  const Vector<double> b = solve(by_blocks.cascade, blocks, start, y).x;
  EXPECT_LT((a - b).norm(), 1e-12);
}

}  // namespace
}  // namespace sdm
