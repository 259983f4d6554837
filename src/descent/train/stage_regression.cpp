#include "descent/train/stage_regression.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "sdm/base/error.h"
#include "sdm/linear/components.h"

namespace sdm::detail {

using linear::LinearPredictor;
using linear::NormalEquations;

template <class Scalar>
StageRegression<Scalar>::StageRegression(const Symmetry& symmetry, Index features, Index deltas,
                                         Index samples, bool bias, Vector<Scalar> shift,
                                         const TrainOptions& options, int folds)
    : options_(options),
      features_(features),
      deltas_(deltas),
      bias_(bias),
      symmetric_(!symmetry.empty()),
      shift_(std::move(shift)) {
  if (symmetric_) {
    if (symmetry.features.size() != features || symmetry.deltas.size() != deltas)
      throw Error("the symmetry has " + std::to_string(symmetry.features.size()) +
                  " features and " + std::to_string(symmetry.deltas.size()) +
                  " deltas, the problem has " + std::to_string(features) + " and " +
                  std::to_string(deltas));
    feature_basis_ = MirrorBasis(symmetry.features);
    delta_basis_ = MirrorBasis(symmetry.deltas);
    const Index even = feature_basis_.even_size(), even_deltas = delta_basis_.even_size();
    blocks_.push_back({0, even, 0, even_deltas, bias, {}, {}});
    // A mirror image has the opposite odd values, so their mean is zero: no bias here.
    blocks_.push_back({even, features - even, even_deltas, deltas - even_deltas, false, {}, {}});
    if (shift_.size() > 0) {
      Matrix<Scalar> in_basis(features, 1);
      feature_basis_.forward<Scalar>(shift_, in_basis);
      shift_ = in_basis;
      shift_.tail(features - even).setZero();
    }
  } else {
    blocks_.push_back({0, features, 0, deltas, bias, {}, {}});
  }
  Index smallest = features;
  for (const Block& block : blocks_)
    if (block.features > 0) smallest = std::min(smallest, block.features);
  dual_ = samples < smallest;
  for (Block& block : blocks_)
    for (int fold = 0; fold < folds; ++fold)
      block.folds.emplace_back(dual_ ? 0 : block.features, block.deltas);
}

template <class Scalar>
double StageRegression<Scalar>::bytes(bool symmetric, Index features, Index deltas, Index samples,
                                      int folds) {
  const double d = static_cast<double>(features), n = static_cast<double>(samples);
  if (samples < (symmetric ? features / 2 : features))
    return sizeof(Scalar) * (3 * d * n + (folds + 2) * n * n);
  // The folds, the sum of those a map is learned from, and its factor.
  const Index blocks = symmetric ? 2 : 1;
  return (folds + 2) * static_cast<double>(blocks) *
             NormalEquations<Scalar>::bytes(features / blocks, deltas / blocks) +
         sizeof(Scalar) * 2.0 * (folds + 1) * d * static_cast<double>(deltas);
}

template <class Scalar>
void StageRegression<Scalar>::add(int fold, Matrix<Scalar>& features, Matrix<Scalar>& deltas,
                                  const Vector<Scalar>& weights, ThreadPool& pool) {
  // A mirror image counts as a sample of its own: twice the weight.
  const Vector<Scalar> roots = (weights * Scalar(symmetric_ ? 2 : 1)).cwiseSqrt();
  const Index columns = features.cols(), slice = 16;
  pool.run((columns + slice - 1) / slice, [&](Index s, int) {
    const Index first = s * slice, count = std::min(slice, columns - first);
    auto f = features.middleCols(first, count);
    auto d = deltas.middleCols(first, count);
    if (symmetric_) {
      Matrix<Scalar> f_in(f), d_in(d);
      feature_basis_.forward<Scalar>(f_in, f);
      delta_basis_.forward<Scalar>(d_in, d);
    }
    if (shift_.size() > 0) f.colwise() -= shift_;
    if (!dual_) f *= roots.segment(first, count).asDiagonal();
    d *= roots.segment(first, count).asDiagonal();
  });
  if (dual_) {
    stored_.push_back({fold, features, deltas, roots});
    return;
  }
  for (Block& block : blocks_)
    block.folds[static_cast<std::size_t>(fold)].add(
        features.middleRows(block.feature_offset, block.features),
        deltas.middleRows(block.delta_offset, block.deltas), roots, pool);
}

template <class Scalar>
void StageRegression<Scalar>::sum_to_root(Communicator& communicator) {
  const auto sum = [&](auto& values) {
    communicator.sum_to_root(std::span(values.data(), static_cast<std::size_t>(values.size())));
  };
  for (Block& block : blocks_) {
    for (NormalEquations<Scalar>& equations : block.folds) {
      sum(equations.gram.data());
      sum(equations.cross);
      sum(equations.feature_sum);
      sum(equations.target_sum);
      sum(equations.target_gram);
      communicator.sum_to_root(std::span(&equations.weight_sum, 1));
    }
  }
}

template <class Scalar>
void StageRegression<Scalar>::reduce_to_span(ThreadPool& pool) {
  Index samples = 0;
  for (const Stored& part : stored_) samples += part.features.cols();
  for (Block& block : blocks_) {
    Matrix<Scalar> all(block.features, samples);
    Index column = 0;
    for (const Stored& part : stored_) {
      all.middleCols(column, part.features.cols()) =
          part.features.middleRows(block.feature_offset, block.features);
      column += part.features.cols();
    }
    block.basis = linear::sample_span<Scalar>(all, block.centred);
    for (NormalEquations<Scalar>& equations : block.folds)
      equations = NormalEquations<Scalar>(block.basis.cols(), block.deltas);
    column = 0;
    for (const Stored& part : stored_) {
      const Matrix<Scalar> reduced = block.basis.transpose() *
                                     all.middleCols(column, part.features.cols()) *
                                     part.root_weights.asDiagonal();
      block.folds[static_cast<std::size_t>(part.fold)].add(
          reduced, part.deltas.middleRows(block.delta_offset, block.deltas), part.root_weights,
          pool);
      column += part.features.cols();
    }
  }
  stored_.clear();
}

template <class Scalar>
Index StageRegression<Scalar>::reduce_by_pca(Random& random, ThreadPool& pool) {
  Index kept = 0;
  const bool wanted = options_.pca_energy < 1 && energy(-1, true) > 0;
  for (Block& block : blocks_) {
    if (wanted && block.folds.front().features() > 0) {
      const Matrix<Scalar> components = linear::principal_components(
          total(block, -1), options_.pca_energy, block.centred, random, pool);
      for (NormalEquations<Scalar>& equations : block.folds)
        equations = equations.project(components, pool);
      block.basis = block.basis.rows() == 0 ? components : Matrix<Scalar>(block.basis * components);
    }
    kept += block.folds.front().features();
  }
  return kept;
}

template <class Scalar>
NormalEquations<Scalar> StageRegression<Scalar>::total(const Block& block, int left_out) const {
  const int first = left_out == 0 ? 1 : 0;
  NormalEquations<Scalar> sum = block.folds[static_cast<std::size_t>(first)];
  for (int fold = first + 1; fold < static_cast<int>(block.folds.size()); ++fold)
    if (fold != left_out) sum += block.folds[static_cast<std::size_t>(fold)];
  return sum;
}

// The features' energy, about their mean where `centred` and the block has one. What is no more
// than the rounding of the sums it is a difference of counts as none: such features never vary.
template <class Scalar>
double StageRegression<Scalar>::energy(int left_out, bool centred) const {
  double energy = 0;
  for (const Block& block : blocks_) {
    double squares = 0, weight = 0;
    Vector<double> mean = Vector<double>::Zero(block.folds.front().features());
    for (int fold = 0; fold < static_cast<int>(block.folds.size()); ++fold) {
      if (fold == left_out) continue;
      const NormalEquations<Scalar>& part = block.folds[static_cast<std::size_t>(fold)];
      squares += part.energy(false);
      mean += part.feature_sum.template cast<double>();
      weight += static_cast<double>(part.weight_sum);
    }
    if (centred && block.centred && weight > 0) {
      const double rounding = 128 * std::numeric_limits<Scalar>::epsilon() * squares;
      squares -= mean.squaredNorm() / weight;
      if (squares <= rounding) squares = 0;
    }
    energy += squares;
  }
  return energy;
}

// Mean energy of a feature: what a relative penalty is relative to.
template <class Scalar>
double StageRegression<Scalar>::scale(int left_out) const {
  return energy(left_out, true) / static_cast<double>(features_);
}

template <class Scalar>
typename StageRegression<Scalar>::Fit StageRegression<Scalar>::fit(double value, int left_out,
                                                                   ThreadPool& pool) const {
  Fit result;
  const double unit = scale(left_out);
  result.lambda = options_.penalty.kind == Penalty::Kind::kGiven ? value : value * unit;
  // Features without any energy, as when every sample has arrived: any penalty gives the zero map
  // that is above the rounding of their squares.
  if (unit == 0 && result.lambda == 0) result.lambda = std::max(1.0, energy(left_out, false));
  for (const Block& block : blocks_) {
    const NormalEquations<Scalar> equations = total(block, left_out);
    result.predictors.push_back(linear::ridge(equations, result.lambda, block.centred, pool));
    if (options_.rank > 0)
      result.directions.push_back(
          linear::target_directions(equations, result.predictors.back(), block.centred));
  }
  return result;
}

template <class Scalar>
double StageRegression<Scalar>::held_out_error(const Fit& fit, int fold, ThreadPool& pool) const {
  double error = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    error += linear::residual_gram(blocks_[b].folds[static_cast<std::size_t>(fold)],
                                   fit.predictors[b], pool)
                 .trace();
  return error;
}

// How many of the `rank` best target directions fall to each block.
template <class Scalar>
std::vector<Index> StageRegression<Scalar>::ranks_of(const Fit& fit, Index rank) const {
  std::vector<Index> ranks(blocks_.size(), 0);
  for (Index r = 0; r < rank; ++r) {
    int best = -1;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto& gain = fit.directions[b].gain;
      if (ranks[b] < gain.size() &&
          (best < 0 || gain[ranks[b]] > fit.directions[static_cast<std::size_t>(best)]
                                            .gain[ranks[static_cast<std::size_t>(best)]]))
        best = static_cast<int>(b);
    }
    if (best < 0) break;
    ++ranks[static_cast<std::size_t>(best)];
  }
  return ranks;
}

// Held-out error of every rank up to the largest allowed, from the normal equations alone: along a
// direction that is kept the predictor's error counts, along the others that of the mean.
template <class Scalar>
Index StageRegression<Scalar>::choose_rank(const std::vector<Fit>& folds, ThreadPool& pool) const {
  const Index largest = std::min(options_.rank, deltas_);
  std::vector<double> error(static_cast<std::size_t>(largest) + 1, 0.0);
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    std::vector<Vector<double>> kept, dropped;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const NormalEquations<Scalar>& equations = blocks_[b].folds[fold];
      LinearPredictor<Scalar> mean = folds[fold].predictors[b];
      const Matrix<double> full = linear::residual_gram(equations, mean, pool);
      mean.weights.setZero();
      const Matrix<double> flat = linear::residual_gram(equations, mean, pool);
      const Matrix<double> u = folds[fold].directions[b].directions.template cast<double>();
      kept.push_back((u.transpose() * full * u).diagonal());
      dropped.push_back((u.transpose() * flat * u).diagonal());
    }
    for (Index rank = 1; rank <= largest; ++rank) {
      const std::vector<Index> ranks = ranks_of(folds[fold], rank);
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        error[static_cast<std::size_t>(rank)] +=
            kept[b].head(ranks[b]).sum() + dropped[b].tail(dropped[b].size() - ranks[b]).sum();
    }
  }
  const double best = *std::min_element(error.begin() + 1, error.end());
  // Where the fit is exact, rounding may leave the best error a little below zero.
  const double allowed = best + options_.rank_tolerance * std::abs(best);
  Index rank = 1;
  while (error[static_cast<std::size_t>(rank)] > allowed) ++rank;
  return rank;
}

template <class Scalar>
DescentMap<Scalar> StageRegression<Scalar>::to_map(const Fit& fit, Index rank) const {
  const std::vector<Index> ranks = rank > 0 ? ranks_of(fit, rank) : std::vector<Index>{};
  const Index inner = rank > 0 ? std::accumulate(ranks.begin(), ranks.end(), Index(0)) : deltas_;
  // delta = offset + left * (right^T f), in the basis of the symmetry.
  Matrix<Scalar> left = Matrix<Scalar>::Zero(deltas_, inner);
  Matrix<Scalar> right = Matrix<Scalar>::Zero(features_, inner);
  Matrix<Scalar> offset = Matrix<Scalar>::Zero(deltas_, 1);
  Index column = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    const LinearPredictor<Scalar>& p = fit.predictors[b];
    const Matrix<Scalar> u = rank > 0
                                 ? Matrix<Scalar>(fit.directions[b].directions.leftCols(ranks[b]))
                                 : Matrix<Scalar>::Identity(block.deltas, block.deltas);
    const Matrix<Scalar> reduced = p.weights * u;
    const Matrix<Scalar> whole =
        block.basis.rows() == 0 ? reduced : Matrix<Scalar>(block.basis * reduced);
    Vector<Scalar> at_mean = reduced.transpose() * p.feature_mean;
    if (shift_.size() > 0)
      at_mean += whole.transpose() * shift_.segment(block.feature_offset, block.features);
    left.block(block.delta_offset, column, block.deltas, u.cols()) = u;
    right.block(block.feature_offset, column, block.features, u.cols()) = whole;
    offset.col(0).segment(block.delta_offset, block.deltas) = p.target_mean - u * at_mean;
    column += u.cols();
  }
  if (symmetric_) {
    const Matrix<Scalar> left_in = left, right_in = right, offset_in = offset;
    delta_basis_.backward<Scalar>(left_in, left);
    delta_basis_.backward<Scalar>(offset_in, offset);
    feature_basis_.backward<Scalar>(right_in, right);
  }
  // The paper subtracts: delta = b - R f.
  if (rank > 0) return {std::move(left), -right.transpose(), offset.col(0)};
  if (!symmetric_) return {-right.transpose(), offset.col(0)};
  return {-(left * right.transpose()), offset.col(0)};
}

template <class Scalar>
StageMaps<Scalar> StageRegression<Scalar>::solve(Random& random, ThreadPool& pool) {
  StageMaps<Scalar> maps;
  if (dual_) reduce_to_span(pool);
  const Index kept = reduce_by_pca(random, pool);
  maps.components = options_.pca_energy < 1 ? kept : features_;

  const int folds = static_cast<int>(blocks_.front().folds.size());
  double best_value = options_.penalty.values.front();
  std::vector<Fit> best_folds;
  if (options_.penalty.kind == Penalty::Kind::kHeldOut) {
    double best_error = std::numeric_limits<double>::infinity();
    for (const double value : options_.penalty.values) {
      std::vector<Fit> fits;
      double error = 0;
      try {
        for (int fold = 0; fold < folds; ++fold) {
          fits.push_back(fit(value, fold, pool));
          error += held_out_error(fits.back(), fold, pool);
        }
      } catch (const Error&) {
        continue;  // singular with so small a penalty: a larger one may do
      }
      if (error < best_error) {
        best_error = error;
        best_value = value;
        best_folds = std::move(fits);
      }
    }
  }
  const bool need_folds =
      folds > 1 && (options_.cross_fit || (options_.rank > 0 && options_.rank_tolerance > 0));
  if (need_folds && best_folds.empty())
    for (int fold = 0; fold < folds; ++fold) best_folds.push_back(fit(best_value, fold, pool));

  const Fit full = fit(best_value, -1, pool);
  Index rank = std::min(options_.rank, deltas_);
  if (rank > 0 && options_.rank_tolerance > 0 && folds > 1) rank = choose_rank(best_folds, pool);
  maps.full = to_map(full, rank);
  if (folds > 1 && options_.cross_fit)
    for (const Fit& fold : best_folds) maps.without_fold.push_back(to_map(fold, rank));
  maps.penalty = full.lambda;
  const double unit = scale(-1);
  maps.penalty_factor = unit > 0 ? full.lambda / unit : 0;
  return maps;
}

template <class Scalar>
Matrix<Scalar> StageRegression<Scalar>::inverse_covariance(double penalty) const {
  assert(!symmetric_ && !dual_ && options_.pca_energy == 1);
  const NormalEquations<Scalar> equations = total(blocks_.front(), -1);
  Matrix<Scalar> gram = equations.gram.dense();
  gram.diagonal().array() += static_cast<Scalar>(penalty);
  if (!bias_) return gram.llt().solve(Matrix<Scalar>::Identity(features_, features_));
  Matrix<Scalar> sigma(features_ + 1, features_ + 1);
  sigma << gram, equations.feature_sum, equations.feature_sum.transpose(), equations.weight_sum;
  Matrix<Scalar> inverse =
      sigma.llt().solve(Matrix<Scalar>::Identity(features_ + 1, features_ + 1));
  if (shift_.size() > 0) {
    // phi = T phi' with T = [I shift; 0 1], so the inverse is T^-T inverse' T^-1.
    Matrix<Scalar> t = Matrix<Scalar>::Identity(features_ + 1, features_ + 1);
    t.col(features_).head(features_) = -shift_;
    inverse = t.transpose() * inverse * t;
  }
  return inverse;
}

template class StageRegression<float>;
template class StageRegression<double>;

}  // namespace sdm::detail
