#include <limits>
#include <stdexcept>

#include "sdm/descent/train/train.h"
#include "tests/descent/problems.h"
#include "tests/io/expect_error.h"

namespace sdm {
namespace {

using io::expect_error;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class BadInput : public testing::Test {
 protected:
  TanhProblem<double> problem{3, 6, 20, false, 1};
  TrainOptions options;

  void expect(const std::string& part) {
    expect_error([&] { problem.train(options); }, part);
  }
};

TEST_F(BadInput, NamesAnEmptyProblem) {
  problem.starts.resize(3, 0);
  problem.targets.resize(3, 0);
  expect("the problem has no samples");
}

TEST_F(BadInput, NamesStartsAndTargetsThatDoNotFit) {
  const Matrix<double> starts = problem.starts, targets = problem.targets;
  expect_error([&] { train(problem, starts, Matrix<double>(targets.leftCols(7))); },
               "there are 7 targets, expected 1 or one for each of 20 samples");
  expect_error([&] { train(problem, starts, Matrix<double>(targets.topRows(2))); },
               "the targets have 2 rows, expected 3");
  expect_error([&] { train(problem, Matrix<double>(starts.leftCols(19)), targets); },
               "there are 19 starts");
  expect_error([&] { train(problem, Matrix<double>(starts.topRows(1)), targets); },
               "the starts have 1 rows, expected 3");
}

TEST_F(BadInput, NamesValuesThatAreNotFinite) {
  problem.starts(1, 4) = kNaN;
  expect("starts 4: a value is not finite");
  problem.starts(1, 4) = 0;
  problem.targets(2, 13) = kInf;
  expect("targets 13: a value is not finite");
}

TEST_F(BadInput, NamesOptionsThatMakeNoSense) {
  const auto with = [&](auto&& change, const std::string& part) {
    options = {};
    change(options);
    expect(part);
  };
  with([](TrainOptions& o) { o.stages = 0; }, "stages is 0, expected at least 1");
  with([](TrainOptions& o) { o.folds = 0; }, "folds is 0, expected at least 1");
  with([](TrainOptions& o) { o.pca_energy = 0; }, "pca_energy is 0");
  with([](TrainOptions& o) { o.pca_energy = 1.5; }, "pca_energy is 1.5");
  with([](TrainOptions& o) { o.pca_energy = kNaN; }, "pca_energy is nan");
  with([](TrainOptions& o) { o.rank = -1; }, "rank is -1");
  with([](TrainOptions& o) { o.rank_tolerance = -0.5; }, "rank_tolerance is -0.5");
  with([](TrainOptions& o) { o.rank_tolerance = 0.1; }, "needs rank > 0 and at least 2 folds");
  with([](TrainOptions& o) { o.threads = -2; }, "threads is -2");
  with([](TrainOptions& o) { o.chunk = -1; }, "chunk is -1");
  with([](TrainOptions& o) { o.penalty = Penalty::given(-2); }, "the penalty is -2");
  with([](TrainOptions& o) { o.penalty = Penalty::held_out(); },
       "held-out error needs at least 2 folds");
}

TEST_F(BadInput, NeedsTwoGroupsForAHeldOutPenalty) {
  problem.groups.assign(20, 5);
  options.folds = 3;
  options.penalty = Penalty::held_out();
  expect("needs at least 2 groups of samples, found 1");
}

TEST_F(BadInput, NamesWeightsAndGroupsThatAreNegative) {
  problem.weights.assign(20, 1);
  problem.weights[6] = -1;
  expect("sample 6 has weight -1");
  problem.weights[6] = kNaN;
  expect("sample 6 has weight nan");
  problem.weights.clear();
  problem.groups.assign(20, 0);
  problem.groups[3] = -4;
  expect("sample 3 is in group -4");
}

TEST_F(BadInput, NamesWeightsThatAreAllZero) {
  problem.weights.assign(20, 0);
  expect("stage 0: the samples' weights sum to 0");
}

TEST_F(BadInput, NamesARobustWeightThatIsNegative) {
  options.robust_weight = [](double) { return -1.0; };
  expect("stage 0, sample 0: the weight is -1");
}

TEST_F(BadInput, NamesAFeatureWithoutVarianceWhereThereIsNoPenalty) {
  problem.h.a.row(4).setZero();
  problem.h.b.row(4).setZero();
  options.penalty = Penalty::given(0);
  expect("stage 0: the normal equations are singular at feature 4");
  for (const Penalty& penalty : {Penalty::given(0.1), Penalty::relative(1e-6)}) {
    options.penalty = penalty;
    const auto result = problem.train(options);
    EXPECT_LT(result.cascade.maps[0].matrix().col(4).norm(), 1e-6);
  }
}

// Does one odd thing at stage 1, sample 13.
struct Odd {
  using Scalar = double;
  enum class At { kFeatures, kDifference, kStep, kError } at = At::kFeatures;
  enum class What { kThrow, kNaN, kInf } what = What::kThrow;
  TanhProblem<double> base{3, 6, 20, false, 1};

  double odd() const {
    if (what == What::kThrow) throw std::out_of_range("no such pixel");
    return what == What::kNaN ? kNaN : -kInf;
  }
  Index samples() const { return 20; }
  Index state_size() const { return 3; }
  Index feature_size(int) const { return 6; }
  bool template_known() const { return false; }
  void features(Index i, int stage, ConstVectorRef<double> x, VectorRef<double> out) const {
    base.features(i, stage, x, out);
    if (at == At::kFeatures && stage == 1 && i >= 13) out[2] = odd();
  }
  Index delta_size() const { return 3; }
  void difference(ConstVectorRef<double> x, ConstVectorRef<double> t, VectorRef<double> out) const {
    out = t - x;
    if (at == At::kDifference && x[0] == base.starts(0, 13)) out[1] = odd();
  }
  void step(int /*stage*/, ConstVectorRef<double> x, ConstVectorRef<double> d,
            VectorRef<double> out) const {
    const bool bad = at == At::kStep && x[0] == base.starts(0, 13);
    out = x + d;
    if (bad) out[1] = odd();
  }
  double error(Index i, ConstVectorRef<double> d) const {
    return at == At::kError && i == 13 ? odd() : d.norm();
  }
};

void expect_odd(Odd::At at, Odd::What what, const std::string& part) {
  for (const int threads : {1, 3}) {
    Odd problem;
    problem.at = at;
    problem.what = what;
    TrainOptions options;
    options.threads = threads;
    expect_error([&] { train(problem, problem.base.starts, problem.base.targets, options); }, part);
  }
}

TEST(OddProblem, IsNamedWithStageAndSampleWhenItThrows) {
  using enum Odd::At;
  const auto thrown = Odd::What::kThrow;
  expect_odd(kFeatures, thrown, "stage 1, sample 13: the problem's features threw: no such pixel");
  expect_odd(kDifference, thrown,
             "stage 0, sample 13: the problem's difference threw: no such pixel");
  expect_odd(kStep, thrown, "stage 0, sample 13: the problem's step threw: no such pixel");
  expect_odd(kError, thrown, "stage 0, sample 13: the problem's error threw: no such pixel");
}

TEST(OddProblem, IsNamedWithStageAndSampleWhenItGivesWhatIsNotFinite) {
  using enum Odd::At;
  using enum Odd::What;
  expect_odd(kFeatures, kNaN, "stage 1, sample 13: feature 2 is nan");
  expect_odd(kFeatures, kInf, "stage 1, sample 13: feature 2 is -inf");
  expect_odd(kDifference, kNaN, "stage 0, sample 13: the difference to its target is not finite");
  expect_odd(kStep, kInf, "stage 0, sample 13: the state diverged");
  expect_odd(kError, kNaN, "stage 0, sample 13: the error is nan");
}

TEST(OddProblem, IsNamedWhenItsSymmetryDoesNotFit) {
  struct Mirrored : TanhProblem<double> {
    using TanhProblem::TanhProblem;
    Symmetry given;
    Symmetry symmetry(int) const { return given; }
  } mirrored(3, 6, 20, false, 1);
  const auto run = [&] { train(mirrored, mirrored.starts, mirrored.targets); };
  mirrored.given = {{{1, 0, 2, 3, 4}, {}}, {{0, 1, 2}, {}}};
  expect_error(run, "the symmetry has 5 features and 3 deltas, the problem has 6 and 3");
  mirrored.given = {{{1, 0, 2, 3, 4, 5}, {}}, {{0, 1}, {}}};
  expect_error(run, "the symmetry has 6 features and 2 deltas");
  mirrored.given = {{{1, 2, 0, 3, 4, 5}, {}}, {{0, 1, 2}, {}}};
  expect_error(run, "the symmetry maps coordinate 0 to 1, which does not map back");
}

// Says so if the training gets as far as its features.
struct Unasked : TanhProblem<double> {
  using TanhProblem::TanhProblem;
  Symmetry given;
  Symmetry symmetry(int) const { return given; }
  void features(Index, int, ConstVectorRef<double>, VectorRef<double>) const {
    throw std::logic_error("features were asked for");
  }
};

TEST(InverseCovariances, AreRefusedBeforeAnyWorkWhereTheyCannotBeKept) {
  const std::string refusal = "stage 0: inverse covariances can be kept only without a symmetry";
  TrainOptions options;
  options.keep_inverse_covariance = true;
  Unasked problem(3, 6, 20, false, 1);
  const auto run = [&] { train(problem, problem.starts, problem.targets, options); };
  expect_error(run, "features were asked for");
  options.pca_energy = 0.98;
  expect_error(run, refusal);
  options.pca_energy = 1;
  problem.given = {{{1, 0, 2, 3, 4, 5}, {}}, {{0, 1, 2}, {}}};
  expect_error(run, refusal);
  problem = Unasked(3, 6, 5, false, 1);
  expect_error(run, refusal);
}

TEST(OddProblem, IsNamedWhenAStageHasNoFeatures) {
  const auto h = [](ConstVectorRef<double>, VectorRef<double>) {};
  expect_error(
      [&] {
        train(function_problem<double>(h, 2, 0, 5), random_matrix<double>(2, 5, 1),
              random_matrix<double>(2, 5, 2));
      },
      "stage 0 has 0 features");
}

TEST(OddProblem, DivergesWithAClearError) {
  // The features are so large that their squares overflow.
  const auto h = [](ConstVectorRef<double> x, VectorRef<double> out) { out = x * 1e200; };
  expect_error(
      [&] {
        train(function_problem<double>(h, 2, 2, 9), random_matrix<double>(2, 9, 1),
              random_matrix<double>(2, 9, 2));
      },
      "stage 0: ");
}

TEST(FunctionProblem, RefusesTemplatesThatDoNotFit) {
  const auto h = [](ConstVectorRef<double>, VectorRef<double>) {};
  expect_error([&] { function_problem<double>(h, 2, 4, 5, Matrix<double>(3, 5)); },
               "the templates have 3 rows, expected one for each of 4 features");
  expect_error([&] { function_problem<double>(h, 2, 4, 5, Matrix<double>(4, 3)); },
               "3 templates for 5 samples");
}

}  // namespace
}  // namespace sdm
