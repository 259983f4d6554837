#pragma once

#include <exception>
#include <string>

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

 private:
  SingleProcess single_process_;
  Communicator& world_;
};

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
