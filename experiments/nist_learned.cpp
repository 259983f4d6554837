#include "experiments/nist_learned.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "sdm/descent/solve.h"
#include "sdm/descent/train.h"

namespace sdm::experiments {
namespace {

constexpr double kMargin = 0.1;   // of the box, on both sides, as a share of its width
constexpr double kLogFactor = 5;  // a span beyond this is seen on a log scale
constexpr double kReach = 1.2;    // how far outside the box an iterate may go
constexpr double kHuge = 1e100;   // stands for an infinite model value

/// std::uniform_real_distribution may differ between standard libraries; this does not.
double uniform(std::mt19937_64& random) {
  return std::ldexp(static_cast<double>(random() >> 11), -53) * 2 - 1;
}

void move_in_box(ConstVectorRef<double> u, ConstVectorRef<double> delta, VectorRef<double> out) {
  out = (u + delta).cwiseMax(-kReach).cwiseMin(kReach);
}

}  // namespace

/// Every sample is a parameter vector of the box and the data it would give.
class ReversedProblem {
 public:
  using Scalar = double;
  ReversedProblem(const LearnedDescent& learned, Matrix<double> templates)
      : learned_(learned), templates_(std::move(templates)) {}

  Index samples() const { return templates_.cols(); }
  Index state_size() const { return learned_.box_.size(); }
  Index feature_size(int) const { return templates_.rows(); }
  bool template_known() const { return true; }
  void features(Index sample, int, ConstVectorRef<double> u, VectorRef<double> out) const {
    learned_.features(u, out);
    out -= templates_.col(sample);
  }
  void difference(ConstVectorRef<double> u, ConstVectorRef<double> target,
                  VectorRef<double> out) const {
    out = target - u;
  }
  void step(ConstVectorRef<double> u, ConstVectorRef<double> delta, VectorRef<double> out) const {
    move_in_box(u, delta, out);
  }

 private:
  const LearnedDescent& learned_;
  Matrix<double> templates_;
};

ParameterBox::ParameterBox(const NistProblem& problem) {
  low_ = problem.certified.cwiseMin(problem.starts[0]).cwiseMin(problem.starts[1]);
  high_ = problem.certified.cwiseMax(problem.starts[0]).cwiseMax(problem.starts[1]);
  sign_ = Vector<double>::Zero(low_.size());
  for (Index j = 0; j < low_.size(); ++j) {
    const double ratio = high_[j] / low_[j];
    if (low_[j] * high_[j] > 0 && std::max(ratio, 1 / ratio) > kLogFactor) {
      sign_[j] = low_[j] > 0 ? 1 : -1;
      const double a = std::log(std::abs(low_[j])), b = std::log(std::abs(high_[j]));
      low_[j] = std::min(a, b);
      high_[j] = std::max(a, b);
    }
    const double margin = kMargin * (high_[j] - low_[j]);
    low_[j] -= margin;
    high_[j] += margin;
  }
}

Vector<double> ParameterBox::to_box(ConstVectorRef<double> beta) const {
  Vector<double> u(size());
  for (Index j = 0; j < size(); ++j) {
    const double v = sign_[j] == 0 ? beta[j] : std::log(beta[j] * sign_[j]);
    u[j] = 2 * (v - low_[j]) / (high_[j] - low_[j]) - 1;
  }
  return u;
}

void ParameterBox::from_box(ConstVectorRef<double> u, double* beta) const {
  for (Index j = 0; j < size(); ++j) {
    const double v = low_[j] + (u[j] + 1) / 2 * (high_[j] - low_[j]);
    beta[j] = sign_[j] == 0 ? v : sign_[j] * std::exp(v);
  }
}

LearnedDescent::LearnedDescent(const NistProblem& problem, const Vector<double>& start,
                               const LearnOptions& options)
    : nist_(&problem), box_(problem), start_(box_.to_box(start)) {
  std::mt19937_64 random(options.seed);
  const Index n = problem.parameters(), m = problem.observations();
  Matrix<double> targets(n, options.samples), templates(m, options.samples);
  Vector<double> beta(n);
  for (Index i = 0; i < options.samples; ++i) {
    for (Index j = 0; j < n; ++j) targets(j, i) = uniform(random);
    box_.from_box(targets.col(i), beta.data());
    problem.model.values(problem.x, beta.data(), templates.col(i).data());
  }

  median_.resize(m);
  spread_.resize(m);
  for (Index k = 0; k < m; ++k) {
    std::vector<double> values;
    for (double v : templates.row(k))
      if (std::isfinite(v)) values.push_back(v);
    std::sort(values.begin(), values.end());
    const auto quantile = [&](double q) {
      return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
    };
    median_[k] = quantile(0.5);
    spread_[k] = std::max(quantile(0.75) - quantile(0.25), std::numeric_limits<double>::min());
  }
  for (Index i = 0; i < options.samples; ++i) compress(templates.col(i));

  TrainOptions train_options;
  train_options.stages = options.stages;
  train_options.penalty = Penalty::held_out({1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1});
  train_options.folds = options.folds;
  train_options.seed = options.seed;
  train_options.threads = options.threads;
  cascade_ =
      train(ReversedProblem(*this, std::move(templates)), start_, targets, train_options).cascade;
}

void LearnedDescent::features(ConstVectorRef<double> u, VectorRef<double> out) const {
  std::array<double, 16> beta;
  box_.from_box(u, beta.data());
  nist_->model.values(nist_->x, beta.data(), out.data());
  compress(out);
}

void LearnedDescent::compress(VectorRef<double> values) const {
  for (Index k = 0; k < values.size(); ++k) {
    const double v = std::isnan(values[k]) ? kHuge : std::clamp(values[k], -kHuge, kHuge);
    values[k] = std::asinh((v - median_[k]) / spread_[k]);
  }
}

LearnedDescent::Answer LearnedDescent::solve(const Vector<double>& y) const {
  Answer best{Vector<double>(box_.size()), std::numeric_limits<double>::infinity(), 0};
  Vector<double> compressed_y = y, u = start_, beta(box_.size());
  compress(compressed_y);
  Solver<double>(cascade_).solve(
      u,
      [&](int, ConstVectorRef<double> at, VectorRef<double> out) {
        box_.from_box(at, beta.data());
        nist_->model.values(nist_->x, beta.data(), out.data());
        const double rss = (out - y).squaredNorm();
        if (rss < best.rss || best.evaluations == 0) best.beta = beta, best.rss = rss;
        ++best.evaluations;
        compress(out);
        out -= compressed_y;
      },
      [](ConstVectorRef<double> at, ConstVectorRef<double> delta, VectorRef<double> out) {
        move_in_box(at, delta, out);
      },
      true);
  return best;
}

}  // namespace sdm::experiments
