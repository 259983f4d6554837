#pragma once

#include <algorithm>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include "descent/train/single_process.h"
#include "descent/train/stage_regression.h"

namespace sdm::detail {

/// The ranks of a training as its steps use them: one process is a rank too.
class Ranks {
 public:
  /// `communicator` may be null: this process is alone.
  explicit Ranks(Communicator* communicator)
      : world_(communicator != nullptr ? *communicator : single_process_) {}
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  Communicator& world() { return world_; }
  const Communicator& world() const { return world_; }
  bool alone() const { return world_.size() == 1; }
  bool is_root() const { return world_.rank() == 0; }

  /// Runs something on every rank; if it fails on one, all of them throw.
  template <class Work>
  void together(Work&& work) {
    std::string failure;
    try {
      work();
    } catch (const std::exception& e) {
      failure = e.what();
      if (alone()) throw;
    }
    world_.agree(failure);
  }

  double sum(double value) {
    sum(std::span(&value, 1));
    return value;
  }
  /// Every rank gets the sums.
  template <class Number>
  void sum(std::span<Number> values) {
    world_.sum_to_root(values);
    broadcast(values);
  }
  /// Every rank gets the root's.
  template <class Number>
  void broadcast(std::span<Number> values) {
    world_.broadcast(std::as_writable_bytes(values));
  }
  template <class Scalar>
  void broadcast(StageMaps<Scalar>& maps);

  /// What the ranks before this one have of it, and what all have.
  struct Share {
    Index first = 0, all = 0;
  };
  Share share_of(Index count);

  /// Every rank gets what each of them brings, in the order of ranks: items of `width` numbers, of
  /// more than `most` in all evenly some.
  template <class Number>
  std::vector<Number> gather(const std::vector<Number>& own, Index width = 1,
                             Index most = std::numeric_limits<Index>::max());

  /// Every rank gets the columns that each of them has filled in: its own are from `first` on.
  template <class Scalar>
  void share_columns(Eigen::Ref<Matrix<Scalar>> columns, Index first, Index count);

  /// The root solves for what all ranks have added; every rank gets the answer.
  template <class Scalar, class Solve>
  linear::LinearPredictor<Scalar> solve(const linear::NormalEquations<Scalar>& equations,
                                        const Solve& solve);

 private:
  SingleProcess single_process_;
  Communicator& world_;
};

inline Ranks::Share Ranks::share_of(Index count) {
  std::vector<double> counts(static_cast<std::size_t>(world_.size()), 0.0);
  counts[static_cast<std::size_t>(world_.rank())] = static_cast<double>(count);
  sum(std::span(counts));
  Share share;
  for (int rank = 0; rank < world_.size(); ++rank) {
    if (rank == world_.rank()) share.first = share.all;
    share.all += static_cast<Index>(counts[static_cast<std::size_t>(rank)]);
  }
  return share;
}

template <class Number>
std::vector<Number> Ranks::gather(const std::vector<Number>& own, Index width, Index most) {
  if (alone()) return own;
  const Index items = static_cast<Index>(own.size()) / width, all = share_of(items).all;
  const Index stride = std::max<Index>(1, all > 0 ? (all - 1) / most + 1 : 1);
  const Index count = (items + stride - 1) / stride;
  const Share share = share_of(count);
  std::vector<Number> result(static_cast<std::size_t>(share.all * width), Number(0));
  for (Index i = 0; i < count; ++i)
    std::copy_n(own.begin() + i * stride * width, width,
                result.begin() + (share.first + i) * width);
  sum(std::span(result));
  return result;
}

template <class Scalar>
void Ranks::share_columns(Eigen::Ref<Matrix<Scalar>> columns, Index first, Index count) {
  if (alone()) return;
  Matrix<Scalar> own = Matrix<Scalar>::Zero(columns.rows(), columns.cols());
  own.middleCols(first, count) = columns.middleCols(first, count);
  sum(std::span(own.data(), static_cast<std::size_t>(own.size())));
  columns = own;
}

template <class Scalar, class Solve>
linear::LinearPredictor<Scalar> Ranks::solve(const linear::NormalEquations<Scalar>& equations,
                                             const Solve& solve) {
  if (alone()) return solve(equations);
  linear::NormalEquations<Scalar> all = equations;
  sum_to_root(all, world_);
  linear::LinearPredictor<Scalar> found;
  together([&] {
    if (is_root()) found = solve(all);
  });
  found.weights.resize(equations.features(), equations.targets());
  found.feature_mean.resize(equations.features());
  found.target_mean.resize(equations.targets());
  const auto share = [&](auto& values) {
    broadcast(std::span(values.data(), static_cast<std::size_t>(values.size())));
  };
  share(found.weights);
  share(found.feature_mean);
  share(found.target_mean);
  return found;
}

template <class Scalar>
void Ranks::broadcast(StageMaps<Scalar>& maps) {
  if (alone()) return;
  const auto number = [&](auto& value) { broadcast(std::span(&value, 1)); };
  const auto share = [&](auto values) {
    Index sizes[2] = {values.rows(), values.cols()};
    broadcast(std::span<Index>(sizes));
    values.resize(sizes[0], sizes[1]);
    broadcast(std::span(values.data(), static_cast<std::size_t>(values.size())));
    return values;
  };
  number(maps.penalty);
  number(maps.penalty_factor);
  number(maps.components);
  std::size_t factors = maps.penalty_factors.size();
  number(factors);
  maps.penalty_factors.resize(factors);
  broadcast(std::span(maps.penalty_factors));
  std::size_t folds = maps.without_fold.size();
  number(folds);
  maps.without_fold.resize(folds);
  const auto share_map = [&](DescentMap<Scalar>& map) {
    Matrix<Scalar> left = share(map.left()), right = share(map.right());
    Vector<Scalar> bias = share(map.bias());
    if (left.size() == 0)
      map = DescentMap<Scalar>(std::move(right), std::move(bias));
    else
      map = DescentMap<Scalar>(std::move(left), std::move(right), std::move(bias));
  };
  share_map(maps.full);
  for (DescentMap<Scalar>& map : maps.without_fold) share_map(map);
}

}  // namespace sdm::detail
