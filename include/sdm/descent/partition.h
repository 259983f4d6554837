#pragma once

#include <cmath>
#include <vector>

#include "sdm/descent/solve.h"

namespace sdm {

// A generic map exists only near the optimum (theorem 2). The paper's conclusion and the authors'
// later Global SDM answer with one cascade for each part of the space. Two ways to part it:
//   - a grid over the state: every cell is tried, the answer of least residual wins;
//   - the signs of the leading principal components of state deltas and feature deltas: a cell then
//     holds samples that want to move the same way.

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
  template <class Other>
  friend struct Partition;
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

  /// As a model of kind "partition", and back; and as a file. Throw Error on another kind or shape.
  io::Model to_model() const;
  static Partition from_model(const io::Model& model);
  void save(const std::filesystem::path& path) const;
  static Partition load(const std::filesystem::path& path);
};

template <class Scalar>
struct PartitionSolution {
  Vector<Scalar> x;
  SolveSummary summary;
  Index cell = 0;
};

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
