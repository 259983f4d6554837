#pragma once

#include <vector>

#include "sdm/base/random.h"
#include "sdm/descent/train/communicator.h"
#include "sdm/descent/train/train.h"
#include "sdm/linear/normal_equations.h"
#include "sdm/linear/ridge.h"

namespace sdm::detail {

/// Adds up the equations of all ranks at the root.
template <class Scalar>
void sum_to_root(linear::NormalEquations<Scalar>& equations, Communicator& communicator);

/// What a stage learns: the map of all samples and, when cross-fitting, for each fold the map of
/// the samples outside it.
template <class Scalar>
struct StageMaps {
  DescentMap<Scalar> full;
  std::vector<DescentMap<Scalar>> without_fold;
  double penalty = 0, penalty_factor = 0;  // the largest where outputs differ
  std::vector<double> penalty_factors;     // of each output, where held-out error chose
  Index components = 0;
};

/// The regression of one stage: takes chunks of samples, gives maps.
///
/// Without a symmetry there is one block of normal equations for each fold. With one there are two,
/// of half the size: the even features determine the even deltas, the odd ones the odd deltas.
///
/// Used so: construct; `add` every chunk, each with the number of its fold; `solve` once. Of the
/// options it looks at penalty (not stage_penalties), standardise, cross_fit, pca_energy, rank,
/// rank_tolerance and keep_inverse_covariance. A held-out penalty needs at least two folds.
template <class Scalar>
class StageRegression {
 public:
  /// `samples` is the number of samples that will come; fewer than features means the dual form.
  /// `shift` is any typical feature vector (empty: none): sums are kept relative to it, which saves
  /// the digits that a large common offset would cost. Only with a bias.
  StageRegression(const Symmetry& symmetry, Index features, Index deltas, Index samples, bool bias,
                  Vector<Scalar> shift, const TrainOptions& options, int folds);

  static double bytes(bool symmetric, Index features, Index deltas, Index samples, int folds);

  bool dual() const { return dual_; }

  /// Samples of one fold stand in columns. `features` and `deltas` are overwritten.
  void add(int fold, Matrix<Scalar>& features, Matrix<Scalar>& deltas,
           const Vector<Scalar>& weights, ThreadPool& pool);

  /// Adds up the equations of all ranks at the root.
  void sum_to_root(Communicator& communicator);

  /// Solves. `random` draws the start of the PCA. Throws Error on a singular system.
  StageMaps<Scalar> solve(Random& random, ThreadPool& pool);

  /// After solve: (sum w phi phi^T + penalty)^-1 for online updates, in double precision. Not where
  /// a symmetry, PCA or the dual form was used. Throws Error if rounding has left the covariance
  /// without an inverse.
  InverseCovariance inverse_covariance(double penalty) const;

 private:
  struct Block {
    Index feature_offset, features, delta_offset, deltas;
    bool centred;
    std::vector<linear::NormalEquations<Scalar>> folds;
    Matrix<Scalar> basis;  // empty: the features themselves
    // Standardised: what features and deltas were multiplied by. Otherwise empty.
    Vector<Scalar> feature_factors, delta_factors;
  };
  // A predictor of every block, and each block's target directions when the rank is reduced.
  struct Fit {
    std::vector<linear::LinearPredictor<Scalar>> predictors;
    std::vector<linear::TargetDirections<Scalar>> directions;
    double lambda = 0;
  };

  linear::NormalEquations<Scalar> total(const Block& block, int left_out) const;
  double energy(int left_out, bool centred) const;
  double scale(int left_out) const;
  Fit fit(double value, int left_out, ThreadPool& pool) const;
  Vector<double> held_out_errors(const Fit& fit, int fold, ThreadPool& pool) const;
  std::vector<std::size_t> penalty_groups() const;
  Vector<double> delta_energies() const;
  void take_outputs(Fit& to, const Fit& from, const std::vector<bool>& outputs) const;
  Index choose_rank(const std::vector<Fit>& folds, ThreadPool& pool) const;
  std::vector<Index> ranks_of(const Fit& fit, Index rank) const;
  DescentMap<Scalar> to_map(const Fit& fit, Index rank) const;
  void standardise();
  void reduce_to_span(ThreadPool& pool);
  Index reduce_by_pca(Random& random, ThreadPool& pool);

  TrainOptions options_;
  Index features_, deltas_;
  bool bias_, symmetric_, dual_;
  MirrorBasis feature_basis_, delta_basis_;
  Vector<Scalar> shift_;  // in the basis; zero for odd features
  std::vector<Block> blocks_;

  // The dual form keeps its samples until it solves.
  struct Stored {
    int fold;
    Matrix<Scalar> features, deltas;
    Vector<Scalar> root_weights;
  };
  std::vector<Stored> stored_;
};

}  // namespace sdm::detail
