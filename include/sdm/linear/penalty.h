#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace sdm {

/// How strongly ridge regression holds the map back: it minimises `|T - R F|^2 + lambda |R|^2`. The
/// bias is never penalised.
struct Penalty {
  enum class Kind { kGiven, kRelative, kHeldOut, kAutomatic };

  /// Unless told otherwise: a relative factor of 1e-6, or more where so little would be lost in the
  /// rounding of the numbers (`above_rounding`).
  Kind kind = Kind::kAutomatic;
  /// kGiven: one lambda. kRelative, kAutomatic: one factor of trace(Gram)/size. kHeldOut: the
  /// factors to try.
  std::vector<double> values = {1e-6};

  /// lambda itself.
  static Penalty given(double lambda) { return {Kind::kGiven, {lambda}}; }
  /// lambda = factor * trace(Gram) / size: the same strength whatever the scale of the features.
  static Penalty relative(double factor) { return {Kind::kRelative, {factor}}; }
  /// The relative factor with the least held-out error over the folds: for each value of a delta
  /// its own, whatever the unit of that value. Partners under a symmetry share theirs. Where one
  /// factor must do for all (a map of reduced rank, inverse covariances kept), the sum of relative
  /// errors chooses it: each value's held-out error as a share of how much that value varies.
  static Penalty held_out(std::vector<double> factors = {1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10}) {
    return {Kind::kHeldOut, std::move(factors)};
  }

  /// The relative factor for `features` features and numbers of this epsilon: at least 4 features
  /// epsilon, which is 4 epsilon trace(Gram), some ten times the rounding of the factorisation.
  static double above_rounding(double factor, double features, double epsilon) {
    return std::max(factor, 4 * features * epsilon);
  }

  /// Throws Error on an empty, negative or non-finite value.
  void validate() const;
};

}  // namespace sdm
