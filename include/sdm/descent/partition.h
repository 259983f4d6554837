#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sdm/descent/solve.h"
#include "sdm/descent/train.h"

namespace sdm {

// A generic map exists only near the optimum (theorem 2). The paper's conclusion and the authors'
// later Global SDM answer with one cascade for each part of the space. Two ways to part it:
//   - a grid over the state: every cell is tried, the answer of least residual wins;
//   - the signs of the leading principal components of state deltas and feature deltas: a cell then
//     holds samples that want to move the same way.

/// Some samples of a problem as a problem of their own.
template <Problem P>
class SubsetProblem {
 public:
  using Scalar = typename P::Scalar;

  SubsetProblem(const P& problem, std::vector<Index> samples)
      : problem_(&problem), samples_(std::move(samples)) {
    std::map<Index, Index> seen;  // groups numbered from 0 again
    for (const Index sample : samples_)
      groups_.push_back(seen.emplace(detail::ProblemAdapter<P>(problem).group(sample),
                                     static_cast<Index>(seen.size()))
                            .first->second);
  }

  Index samples() const { return static_cast<Index>(samples_.size()); }
  Index state_size() const { return problem_->state_size(); }
  Index delta_size() const { return sdm::delta_size(*problem_); }
  Index feature_size(int stage) const { return problem_->feature_size(stage); }
  bool template_known() const { return problem_->template_known(); }
  void features(Index sample, int stage, ConstVectorRef<Scalar> x, VectorRef<Scalar> out) const {
    problem_->features(original(sample), stage, x, out);
  }
  void difference(ConstVectorRef<Scalar> x, ConstVectorRef<Scalar> target,
                  VectorRef<Scalar> out) const {
    sdm::difference(*problem_, x, target, out);
  }
  void step(ConstVectorRef<Scalar> x, ConstVectorRef<Scalar> delta, VectorRef<Scalar> out) const {
    sdm::step(*problem_, x, delta, out);
  }
  Index group(Index sample) const { return groups_[static_cast<std::size_t>(sample)]; }
  double weight(Index sample) const {
    return detail::ProblemAdapter<P>(*problem_).weight(original(sample));
  }
  double error(Index sample, ConstVectorRef<Scalar> delta) const {
    return detail::ProblemAdapter<P>(*problem_).error(original(sample), delta);
  }

 private:
  Index original(Index sample) const { return samples_[static_cast<std::size_t>(sample)]; }

  const P* problem_;
  std::vector<Index> samples_, groups_;
};

/// An axis-aligned grid over plain states.
struct Grid {
  Vector<double> lower, upper;
  std::vector<int> cells;  // along each axis

  Index size() const;
  /// The cell a state falls into; states outside belong to the nearest cell.
  Index cell_of(const Vector<double>& x) const;
  Vector<double> centre(Index cell) const;
  /// Throws Error if the sizes differ, a cell count is below 1 or the range is empty.
  void validate() const;
};

/// Which way a sample wants to move, as a cell number: one bit for the sign along each leading
/// principal axis of the state deltas and of the feature deltas. Axes pass through the origin,
/// since it is the direction that counts.
template <class Scalar>
class SignRule {
 public:
  SignRule() = default;
  /// Throws Error if there are fewer values than axes, or more than 20 axes: a million cells.
  SignRule(ConstMatrixRef<Scalar> state_deltas, ConstMatrixRef<Scalar> feature_deltas,
           int state_axes, int feature_axes);

  int cells() const { return 1 << (state_axes() + feature_axes()); }
  int state_axes() const { return static_cast<int>(state_.cols()); }
  int feature_axes() const { return static_cast<int>(feature_.cols()); }
  int cell_of(ConstVectorRef<Scalar> state_delta, ConstVectorRef<Scalar> feature_delta) const;
  /// The cells that agree with the features; the state's delta is not known yet.
  std::vector<int> candidates(ConstVectorRef<Scalar> feature_delta) const;

 private:
  int feature_bits(ConstVectorRef<Scalar> feature_delta) const;
  Matrix<Scalar> state_, feature_;  // axes in columns
};

/// A cascade for each cell.
template <class Scalar>
struct Partition {
  std::vector<Cascade<Scalar>> cells;
  /// Where each cell starts; empty: from the x0 of the solve.
  std::vector<Vector<Scalar>> starts;
  SignRule<Scalar> rule;  // no axes: every cell is tried
};

template <class Scalar>
struct PartitionSolution {
  Vector<Scalar> x;
  SolveSummary summary;
  Index cell = 0;
};

namespace detail {
/// The samples of each cell. Throws Error unless every sample has a cell that is there.
std::vector<std::vector<Index>> members_of_cells(const std::vector<Index>& cell_of, Index samples,
                                                 Index cells);
}  // namespace detail

/// Trains a cascade for each cell on the samples in it; `cell_of[i]` is sample i's cell. A cell
/// with fewer than two samples gets the cascade of all samples. A checkpoint gets the cell's
/// number: "CHECKPOINT.cell3". Throws Error on sizes that do not fit and on a cell that is not
/// there.
template <Problem P>
std::vector<Cascade<typename P::Scalar>> train_cells(const P& problem,
                                                     const Matrix<typename P::Scalar>& starts,
                                                     const Matrix<typename P::Scalar>& targets,
                                                     const std::vector<Index>& cell_of, Index cells,
                                                     const TrainOptions& options = {}) {
  using Scalar = typename P::Scalar;
  const Index n = problem.samples();
  detail::check_states<Scalar>("starts", starts, problem.state_size(), n);
  detail::check_states<Scalar>("targets", targets, problem.state_size(), n);
  const std::vector<std::vector<Index>> members = detail::members_of_cells(cell_of, n, cells);
  const auto columns = [](const Matrix<Scalar>& all, const std::vector<Index>& which) {
    return all.cols() == 1 ? all : Matrix<Scalar>(all(Eigen::all, which));
  };
  std::vector<Cascade<Scalar>> result;
  std::optional<Cascade<Scalar>> of_all;
  for (const std::vector<Index>& cell : members) {
    TrainOptions cell_options = options;
    if (!options.checkpoint.empty())
      cell_options.checkpoint += ".cell" + std::to_string(result.size());
    if (cell.size() >= 2) {
      result.push_back(train(SubsetProblem<P>(problem, cell), columns(starts, cell),
                             columns(targets, cell), cell_options)
                           .cascade);
    } else {
      if (!of_all) of_all = train(problem, starts, targets, cell_options).cascade;
      result.push_back(*of_all);
    }
  }
  return result;
}

/// A grid over plain states for reversed SDM: cell c learns from the samples whose target falls
/// into it, started at its centre.
/// Throws Error on sizes that do not fit, and where the template is unknown: without a residual
/// nothing can choose among the cells.
template <Problem P>
Partition<typename P::Scalar> train_grid(const P& problem,
                                         const Matrix<typename P::Scalar>& targets,
                                         const Grid& grid, const TrainOptions& options = {}) {
  using Scalar = typename P::Scalar;
  grid.validate();
  if (!problem.template_known())
    throw Error("a grid needs a known template: its cells are chosen by residual");
  if (grid.lower.size() != problem.state_size())
    throw Error("the grid has " + std::to_string(grid.lower.size()) + " axes, the state has " +
                std::to_string(problem.state_size()) + " values");
  const Index n = problem.samples();
  detail::check_states<Scalar>("targets", targets, problem.state_size(), n);
  Partition<Scalar> result;
  std::vector<Index> cell_of;
  Matrix<Scalar> starts(targets.rows(), n);
  for (Index i = 0; i < n; ++i) {
    cell_of.push_back(
        grid.cell_of(targets.col(targets.cols() == 1 ? 0 : i).template cast<double>()));
    starts.col(i) = grid.centre(cell_of.back()).template cast<Scalar>();
  }
  result.cells = train_cells(problem, starts, targets, cell_of, grid.size(), options);
  for (Index c = 0; c < grid.size(); ++c)
    result.starts.push_back(grid.centre(c).template cast<Scalar>());
  return result;
}

/// Splits by signs (Global SDM): `state_axes` bits from the state deltas, `feature_axes` bits from
/// the features at the start.
/// Throws Error on sizes that do not fit, and if state axes are wanted where the template is
/// unknown: without a residual nothing can choose among them.
template <Problem P>
Partition<typename P::Scalar> train_signs(const P& problem,
                                          const Matrix<typename P::Scalar>& starts,
                                          const Matrix<typename P::Scalar>& targets, int state_axes,
                                          int feature_axes, const TrainOptions& options = {}) {
  using Scalar = typename P::Scalar;
  if (state_axes > 0 && !problem.template_known())
    throw Error(
        "state axes need a known template: cells that differ in them are chosen by residual");
  const Index n = problem.samples();
  detail::check_states<Scalar>("starts", starts, problem.state_size(), n);
  detail::check_states<Scalar>("targets", targets, problem.state_size(), n);
  Matrix<Scalar> deltas(delta_size(problem), n), features(problem.feature_size(0), n);
  for (Index i = 0; i < n; ++i) {
    const Vector<Scalar> x = starts.col(starts.cols() == 1 ? 0 : i);
    difference(problem, x, targets.col(targets.cols() == 1 ? 0 : i), deltas.col(i));
    problem.features(i, 0, x, features.col(i));
  }
  Partition<Scalar> result;
  result.rule = SignRule<Scalar>(deltas, features, state_axes, feature_axes);
  std::vector<Index> cell_of;
  for (Index i = 0; i < n; ++i)
    cell_of.push_back(result.rule.cell_of(deltas.col(i), features.col(i)));
  result.cells = train_cells(problem, starts, targets, cell_of, result.rule.cells(), options);
  return result;
}

/// Runs the cells that the rule leaves open (all of them for a grid) and keeps the answer of least
/// residual. Non-finite answers never win; if all are, x0 comes back with `summary.finite` false.
template <Problem P>
PartitionSolution<typename P::Scalar> solve(const Partition<typename P::Scalar>& partition,
                                            const P& problem, Index sample,
                                            const Vector<typename P::Scalar>& x0) {
  using Scalar = typename P::Scalar;
  std::vector<int> candidates;
  if (partition.rule.feature_axes() + partition.rule.state_axes() > 0) {
    Vector<Scalar> features(problem.feature_size(0));
    problem.features(sample, 0, x0, features);
    candidates = partition.rule.candidates(features);
  } else {
    for (std::size_t c = 0; c < partition.cells.size(); ++c)
      candidates.push_back(static_cast<int>(c));
  }
  PartitionSolution<Scalar> best{x0, {}, -1};
  best.summary.finite = false;
  for (const int cell : candidates) {
    const std::size_t c = static_cast<std::size_t>(cell);
    const Solution<Scalar> tried = solve(partition.cells[c], problem, sample,
                                         partition.starts.empty() ? x0 : partition.starts[c]);
    if (!tried.summary.finite || !std::isfinite(tried.summary.final_residual)) continue;
    if (best.cell < 0 || tried.summary.final_residual < best.summary.final_residual)
      best = {tried.x, tried.summary, cell};
  }
  return best;
}

}  // namespace sdm
