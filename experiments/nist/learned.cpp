#include "experiments/nist/learned.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/descent/solve.h"
#include "sdm/descent/train/train.h"

namespace sdm::experiments {
namespace {

constexpr double kMargin = 0.1;   // of the box, on both sides, as a share of its width
constexpr double kLogFactor = 5;  // a span beyond this is seen on a log scale
constexpr double kDecades = 1e3;  // values spread wider than this are seen on a log scale
constexpr double kReach = 0.1;    // how far outside its cell an iterate may go, as a share of it
constexpr double kHuge = 1e300;   // stands for an infinite model value

double quantile(std::vector<double>& values, double share) {
  const auto at = values.begin() + std::lround(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Steps stay within the cell, or a little outside.
void move(const ParameterBox::Cell& cell, ConstVectorRef<double> u, ConstVectorRef<double> delta,
          VectorRef<double> out) {
  for (Index j = 0; j < u.size(); ++j) {
    const double margin = kReach * (cell.high[j] - cell.low[j]);
    out[j] = std::clamp(u[j] + delta[j], cell.low[j] - margin, cell.high[j] + margin);
  }
}

}  // namespace

/// Every sample is a parameter vector of the box and the data it would give.
class ReversedProblem {
 public:
  using Scalar = double;
  ReversedProblem(const LearnedDescent& learned, const ParameterBox::Cell& cell,
                  Matrix<double> templates)
      : learned_(learned), cell_(cell), templates_(std::move(templates)) {}

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
  void step(int, ConstVectorRef<double> u, ConstVectorRef<double> delta,
            VectorRef<double> out) const {
    move(cell_, u, delta, out);
  }

 private:
  const LearnedDescent& learned_;
  const ParameterBox::Cell& cell_;
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

std::vector<ParameterBox::Cell> ParameterBox::cells() const {
  std::vector<Index> wide;
  for (Index j = 0; j < size(); ++j)
    if (sign_[j] != 0) wide.push_back(j);
  std::stable_sort(wide.begin(), wide.end(),
                   [&](Index a, Index b) { return high_[a] - low_[a] > high_[b] - low_[b]; });
  if (wide.size() > 3) wide.resize(3);
  std::vector<Cell> cells = {{-Vector<double>::Ones(size()), Vector<double>::Ones(size())}};
  for (Index j : wide) {
    std::vector<Cell> halves;
    for (const Cell& cell : cells) {
      halves.insert(halves.end(), 2, cell);
      halves[halves.size() - 2].high[j] = halves.back().low[j] = 0;
    }
    cells = std::move(halves);
  }
  return cells;
}

LearnedDescent::LearnedDescent(const NistProblem& problem, const Vector<double>& start,
                               const LearnOptions& options)
    : nist_(&problem), box_(problem) {
  const auto cells = box_.cells();
  const Index n = problem.parameters(), m = problem.observations();
  const Index all = options.samples * static_cast<Index>(cells.size());
  Matrix<double> targets(n, all), templates(m, all);
  Random random(options.seed, "nist samples");
  Vector<double> beta(n);
  for (Index i = 0; i < all; ++i) {
    const auto& cell = cells[static_cast<std::size_t>(i / options.samples)];
    for (Index j = 0; j < n; ++j)
      targets(j, i) = cell.low[j] + random.uniform() * (cell.high[j] - cell.low[j]);
    box_.from_box(targets.col(i), beta.data());
    problem.model.values(problem.x, beta.data(), templates.col(i).data());
  }
  fit_compression(templates);
  for (Index i = 0; i < all; ++i) {
    compress(templates.col(i));
    for (double& value : templates.col(i)) value += options.noise * random.normal();
  }

  TrainOptions train_options;
  train_options.stages = options.stages;
  train_options.penalty = Penalty::held_out({1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1});
  train_options.folds = options.folds;
  train_options.seed = options.seed;
  train_options.threads = options.threads;
  const Vector<double> u = box_.to_box(start);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const Index first = static_cast<Index>(c) * options.samples;
    const Vector<double> from = u.cwiseMax(cells[c].low).cwiseMin(cells[c].high);
    const ReversedProblem reversed(*this, cells[c], templates.middleCols(first, options.samples));
    learned_.push_back(
        {cells[c], from,
         train(reversed, from, targets.middleCols(first, options.samples), train_options).cascade});
  }
}

void LearnedDescent::fit_compression(const Matrix<double>& samples) {
  centre_.resize(samples.rows());
  scale_.resize(samples.rows());
  log_scale_.resize(samples.rows());
  for (Index k = 0; k < samples.rows(); ++k) {
    std::vector<double> values, sizes;
    for (double v : samples.row(k))
      if (std::isfinite(v)) values.push_back(v), sizes.push_back(std::abs(v));
    if (values.empty())
      throw Error(fmt::format("{}: no sample of the box gives a finite value at observation {}",
                              nist_->model.name, k + 1));
    const double small = quantile(sizes, 0.05), large = quantile(sizes, 0.95);
    const bool decades = large > kDecades * small;
    log_scale_[k] = decades;
    centre_[k] = decades ? 0 : quantile(values, 0.5);
    scale_[k] = decades ? small : quantile(values, 0.75) - quantile(values, 0.25);
    scale_[k] = std::max(scale_[k], std::numeric_limits<double>::min());
  }
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
    values[k] = std::asinh((v - centre_[k]) / scale_[k]);
  }
}

LearnedDescent::Answer LearnedDescent::solve(const Vector<double>& y) const {
  Answer best{Vector<double>(box_.size()), std::numeric_limits<double>::infinity(), 0};
  Vector<double> compressed_y = y, beta(box_.size());
  compress(compressed_y);
  for (const Learned& learned : learned_) {
    Vector<double> u = learned.start;
    Solver<double>(learned.cascade)
        .solve(
            u,
            [&](int, ConstVectorRef<double> at, VectorRef<double> out) {
              box_.from_box(at, beta.data());
              nist_->model.values(nist_->x, beta.data(), out.data());
              ++best.evaluations;
              const double linear =
                  log_scale_.select(0, (out - y).array() / scale_).matrix().squaredNorm();
              compress(out);
              out -= compressed_y;
              const double residual =
                  linear + log_scale_.select(out.array(), 0).matrix().squaredNorm();
              if (residual < best.residual) best.beta = beta, best.residual = residual;
            },
            [&](int, ConstVectorRef<double> at, ConstVectorRef<double> delta,
                VectorRef<double> out) { move(learned.cell, at, delta, out); },
            true);
  }
  return best;
}

}  // namespace sdm::experiments
