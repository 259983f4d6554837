#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sdm/descent/partition.h"
#include "sdm/descent/train/train.h"

namespace sdm {

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
  void values_at(int stage, ConstVectorRef<Scalar> x,
                 VectorRef<Scalar> out) const requires detail::OneFunction<P> {
    problem_->values_at(stage, x, out);
  }
  void subtract_template(Index sample,
                         VectorRef<Scalar> out) const requires detail::OneFunction<P> {
    problem_->subtract_template(original(sample), out);
  }
  void difference(ConstVectorRef<Scalar> x, ConstVectorRef<Scalar> target,
                  VectorRef<Scalar> out) const {
    sdm::difference(*problem_, x, target, out);
  }
  void step(int stage, ConstVectorRef<Scalar> x, ConstVectorRef<Scalar> delta,
            VectorRef<Scalar> out) const {
    sdm::step(*problem_, stage, x, delta, out);
  }
  Index group(Index sample) const { return groups_[static_cast<std::size_t>(sample)]; }
  double weight(Index sample) const {
    return detail::ProblemAdapter<P>(*problem_).weight(original(sample));
  }
  double error(Index sample, ConstVectorRef<Scalar> delta) const {
    return detail::ProblemAdapter<P>(*problem_).error(original(sample), delta);
  }
  Symmetry symmetry(int stage) const {
    return detail::ProblemAdapter<P>(*problem_).symmetry(stage);
  }
  void learned(int stage, const DescentMap<Scalar>& map) const {
    detail::ProblemAdapter<P>(*problem_).learned(stage, map);
  }

 private:
  Index original(Index sample) const { return samples_[static_cast<std::size_t>(sample)]; }

  const P* problem_;
  std::vector<Index> samples_, groups_;
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

}  // namespace sdm
