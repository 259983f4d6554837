#include "descent/train/stage_regression.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/formatted.h"
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
  if (options_.penalty.kind == Penalty::Kind::kAutomatic)
    options_.penalty = Penalty::relative(
        Penalty::above_rounding(options_.penalty.values.front(), static_cast<double>(features),
                                static_cast<double>(std::numeric_limits<Scalar>::epsilon())));
  if (symmetric_) {
    if (symmetry.features.size() != features || symmetry.deltas.size() != deltas)
      throw Error("the symmetry has " + std::to_string(symmetry.features.size()) +
                  " features and " + std::to_string(symmetry.deltas.size()) +
                  " deltas, the problem has " + std::to_string(features) + " and " +
                  std::to_string(deltas));
    feature_basis_ = MirrorBasis(symmetry.features);
    delta_basis_ = MirrorBasis(symmetry.deltas);
    const Index even = feature_basis_.even_size(), even_deltas = delta_basis_.even_size();
    blocks_.push_back({0, even, 0, even_deltas, bias, {}, {}, {}, {}});
    // A mirror image has the opposite odd values, so their mean is zero: no bias here.
    blocks_.push_back(
        {even, features - even, even_deltas, deltas - even_deltas, false, {}, {}, {}, {}});
    if (shift_.size() > 0) {
      Matrix<Scalar> in_basis(features, 1);
      feature_basis_.forward<Scalar>(shift_, in_basis);
      shift_ = in_basis;
      shift_.tail(features - even).setZero();
    }
  } else {
    blocks_.push_back({0, features, 0, deltas, bias, {}, {}, {}, {}});
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
void sum_to_root(NormalEquations<Scalar>& equations, Communicator& communicator) {
  const auto sum = [&](auto& values) {
    communicator.sum_to_root(std::span(values.data(), static_cast<std::size_t>(values.size())));
  };
  sum(equations.gram.data());
  sum(equations.cross);
  sum(equations.feature_sum);
  sum(equations.target_sum);
  sum(equations.target_gram);
  communicator.sum_to_root(std::span(&equations.weight_sum, 1));
}

template void sum_to_root(NormalEquations<float>&, Communicator&);
template void sum_to_root(NormalEquations<double>&, Communicator&);

template <class Scalar>
void StageRegression<Scalar>::sum_to_root(Communicator& communicator) {
  for (Block& block : blocks_)
    for (NormalEquations<Scalar>& equations : block.folds)
      detail::sum_to_root(equations, communicator);
}

namespace {

// Sums over samples of values and of their squares.
struct Moments {
  Vector<double> squares, sums;
  double weight = 0;

  explicit Moments(Index size)
      : squares(Vector<double>::Zero(size)), sums(Vector<double>::Zero(size)) {}

  // Mean squares, about the mean where `centred`. What is no more than the rounding of the sums it
  // is a difference of counts as none.
  template <class Scalar>
  Vector<double> variances(bool centred) const {
    if (!(weight > 0)) return Vector<double>::Zero(squares.size());
    Vector<double> result = squares / weight;
    if (!centred) return result;
    constexpr double kRounding = 128 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
    for (Index i = 0; i < result.size(); ++i) {
      const double mean = sums[i] / weight, variance = result[i] - mean * mean;
      result[i] = variance > kRounding * result[i] ? variance : 0;
    }
    return result;
  }
};

// Partners have one deviation: over samples and mirror images it is the same for both.
void share_among_partners(const MirrorBasis& basis, Vector<double>& variances) {
  Vector<double> sum = Vector<double>::Zero(variances.size()), count = sum;
  for (Index k = 0; k < variances.size(); ++k) {
    sum[basis.coordinates(k).first] += variances[k];
    count[basis.coordinates(k).first] += 1;
  }
  for (Index k = 0; k < variances.size(); ++k)
    variances[k] = sum[basis.coordinates(k).first] / count[basis.coordinates(k).first];
}

// One over the deviation; `constant` where there is none.
template <class Scalar>
Vector<Scalar> unit_factors(const Vector<double>& variances, double constant) {
  Vector<Scalar> factors(variances.size());
  for (Index i = 0; i < variances.size(); ++i)
    factors[i] = static_cast<Scalar>(variances[i] > 0 ? 1 / std::sqrt(variances[i]) : constant);
  return factors;
}

}  // namespace

template <class Scalar>
void StageRegression<Scalar>::standardise() {
  Vector<double> features(features_), deltas(deltas_);
  for (Block& block : blocks_) {
    Moments f(block.features), d(block.deltas);
    for (const NormalEquations<Scalar>& part : block.folds) {
      if (dual_) break;
      f.squares += part.gram.diagonal().template cast<double>();
      f.sums += part.feature_sum.template cast<double>();
      d.squares += part.target_gram.diagonal().template cast<double>();
      d.sums += part.target_sum.template cast<double>();
      f.weight += static_cast<double>(part.weight_sum);
    }
    for (const Stored& part : stored_) {
      const Vector<double> roots = part.root_weights.template cast<double>();
      const Matrix<double> own =
          part.features.middleRows(block.feature_offset, block.features).template cast<double>() *
          roots.asDiagonal();
      const Matrix<double> moves =
          part.deltas.middleRows(block.delta_offset, block.deltas).template cast<double>();
      f.squares += own.rowwise().squaredNorm();
      f.sums += own * roots;
      d.squares += moves.rowwise().squaredNorm();
      d.sums += moves * roots;
      f.weight += roots.squaredNorm();
    }
    d.weight = f.weight;
    features.segment(block.feature_offset, block.features) =
        f.template variances<Scalar>(block.centred);
    deltas.segment(block.delta_offset, block.deltas) = d.template variances<Scalar>(block.centred);
  }
  if (symmetric_) {
    share_among_partners(feature_basis_, features);
    share_among_partners(delta_basis_, deltas);
  }
  // A feature that never varies is left out; a delta that never varies is kept as it is.
  const Vector<Scalar> feature_factors = unit_factors<Scalar>(features, 0);
  const Vector<Scalar> delta_factors = unit_factors<Scalar>(deltas, 1);
  for (Stored& part : stored_) {
    part.features = feature_factors.asDiagonal() * part.features;
    part.deltas = delta_factors.asDiagonal() * part.deltas;
  }
  for (Block& block : blocks_) {
    block.feature_factors = feature_factors.segment(block.feature_offset, block.features);
    block.delta_factors = delta_factors.segment(block.delta_offset, block.deltas);
    if (dual_) continue;
    for (NormalEquations<Scalar>& part : block.folds)
      part.scale(block.feature_factors, block.delta_factors);
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

// Of each output, in the basis of the symmetry.
template <class Scalar>
Vector<double> StageRegression<Scalar>::held_out_errors(const Fit& fit, int fold,
                                                        ThreadPool& pool) const {
  Vector<double> errors(deltas_);
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    errors.segment(blocks_[b].delta_offset, blocks_[b].deltas) =
        linear::residual_gram(blocks_[b].folds[static_cast<std::size_t>(fold)], fit.predictors[b],
                              pool)
            .diagonal();
  return errors;
}

// The outputs that share a penalty: all of them where there is only one map or covariance to hold
// back, partners under a symmetry (they have one unit and one error), none otherwise.
template <class Scalar>
std::vector<std::size_t> StageRegression<Scalar>::penalty_groups() const {
  std::vector<std::size_t> groups(static_cast<std::size_t>(deltas_), 0);
  if (options_.rank > 0 || options_.keep_inverse_covariance) return groups;
  for (Index k = 0; k < deltas_; ++k)
    groups[static_cast<std::size_t>(k)] =
        static_cast<std::size_t>(symmetric_ ? delta_basis_.coordinates(k).first : k);
  return groups;
}

// How much each output varies: what its error is relative to. 0 where it does not.
template <class Scalar>
Vector<double> StageRegression<Scalar>::delta_energies() const {
  Vector<double> energies(deltas_);
  for (const Block& block : blocks_) {
    Moments moments(block.deltas);
    for (const NormalEquations<Scalar>& part : block.folds) {
      moments.squares += part.target_gram.diagonal().template cast<double>();
      moments.sums += part.target_sum.template cast<double>();
      moments.weight += static_cast<double>(part.weight_sum);
    }
    energies.segment(block.delta_offset, block.deltas) =
        moments.template variances<Scalar>(block.centred) * moments.weight;
  }
  if (symmetric_) share_among_partners(delta_basis_, energies);
  return energies;
}

template <class Scalar>
void StageRegression<Scalar>::take_outputs(Fit& to, const Fit& from,
                                           const std::vector<bool>& outputs) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (Index j = 0; j < blocks_[b].deltas; ++j)
      if (outputs[static_cast<std::size_t>(blocks_[b].delta_offset + j)])
        to.predictors[b].weights.col(j) = from.predictors[b].weights.col(j);
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
    Matrix<Scalar> whole =
        block.basis.rows() == 0 ? reduced : Matrix<Scalar>(block.basis * reduced);
    const bool scaled = block.feature_factors.size() > 0;
    if (scaled) whole = block.feature_factors.asDiagonal() * whole;
    Vector<Scalar> at_mean = reduced.transpose() * p.feature_mean;
    if (shift_.size() > 0)
      at_mean += whole.transpose() * shift_.segment(block.feature_offset, block.features);
    left.block(block.delta_offset, column, block.deltas, u.cols()) = u;
    right.block(block.feature_offset, column, block.features, u.cols()) = whole;
    offset.col(0).segment(block.delta_offset, block.deltas) = p.target_mean - u * at_mean;
    if (scaled) {
      const Vector<Scalar> units = block.delta_factors.cwiseInverse();
      offset.col(0).segment(block.delta_offset, block.deltas).array() *= units.array();
      // Without a rank `left` is the identity of the block.
      auto outer = left.block(block.delta_offset, column, block.deltas, u.cols());
      auto inner = right.block(block.feature_offset, column, block.features, u.cols());
      if (rank > 0)
        outer = units.asDiagonal() * outer;
      else
        inner = inner * units.asDiagonal();
    }
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
  if (options_.standardise) standardise();
  if (dual_) reduce_to_span(pool);
  const Index kept = reduce_by_pca(random, pool);
  maps.components = options_.pca_energy < 1 ? kept : features_;

  const int folds = static_cast<int>(blocks_.front().folds.size());
  const bool held_out = options_.penalty.kind == Penalty::Kind::kHeldOut;
  const std::vector<std::size_t> groups = penalty_groups();
  const auto count = static_cast<std::size_t>(deltas_);
  std::vector<double> values(count, options_.penalty.values.front());  // of each output
  std::vector<Fit> best_folds;
  if (held_out) {
    // Errors that are added up must have one unit: shares of what the outputs vary.
    const Vector<double> energies = delta_energies();
    std::vector<double> best(count, std::numeric_limits<double>::infinity());
    for (const double value : options_.penalty.values) {
      std::vector<Fit> fits;
      Vector<double> errors = Vector<double>::Zero(deltas_);
      try {
        for (int fold = 0; fold < folds; ++fold) {
          fits.push_back(fit(value, fold, pool));
          errors += held_out_errors(fits.back(), fold, pool);
        }
      } catch (const Error&) {
        continue;  // singular with so small a penalty: a larger one may do
      }
      std::vector<double> of_group(count, 0.0);
      for (std::size_t k = 0; k < count; ++k)
        if (energies[static_cast<Index>(k)] > 0)
          of_group[groups[k]] += errors[static_cast<Index>(k)] / energies[static_cast<Index>(k)];
      const bool first = best_folds.empty();
      std::vector<bool> better(count);
      bool all = true;
      for (std::size_t k = 0; k < count; ++k) {
        better[k] = first || of_group[groups[k]] < best[groups[k]];
        if (better[k]) values[k] = value;
        all = all && better[k];
      }
      for (std::size_t g = 0; g < count; ++g) best[g] = std::min(best[g], of_group[g]);
      if (all)
        best_folds = std::move(fits);
      else
        for (std::size_t fold = 0; fold < fits.size(); ++fold)
          take_outputs(best_folds[fold], fits[fold], better);
    }
  }
  const bool need_folds =
      folds > 1 && (options_.cross_fit || (options_.rank > 0 && options_.rank_tolerance > 0));
  if (need_folds && best_folds.empty())
    for (int fold = 0; fold < folds; ++fold) best_folds.push_back(fit(values.front(), fold, pool));

  // The largest factor first, then the outputs that chose a smaller one.
  Fit full = fit(*std::max_element(values.begin(), values.end()), -1, pool);
  for (const double value : options_.penalty.values) {
    std::vector<bool> chosen(count);
    for (std::size_t k = 0; k < count; ++k) chosen[k] = values[k] == value;
    if (value < *std::max_element(values.begin(), values.end()) &&
        std::find(chosen.begin(), chosen.end(), true) != chosen.end())
      take_outputs(full, fit(value, -1, pool), chosen);
  }
  Index rank = std::min(options_.rank, deltas_);
  if (rank > 0 && options_.rank_tolerance > 0 && folds > 1) rank = choose_rank(best_folds, pool);
  maps.full = to_map(full, rank);
  if (folds > 1 && options_.cross_fit)
    for (const Fit& fold : best_folds) maps.without_fold.push_back(to_map(fold, rank));
  maps.penalty = full.lambda;
  const double unit = scale(-1);
  maps.penalty_factor = unit > 0 ? full.lambda / unit : 0;
  if (held_out) {
    maps.penalty_factors = values;
    if (symmetric_)
      for (Index k = 0; k < deltas_; ++k) {
        const auto [a, b] = delta_basis_.coordinates(k);
        for (const Index i : {a, b})
          maps.penalty_factors[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>(k)];
      }
  }
  return maps;
}

template <class Scalar>
InverseCovariance StageRegression<Scalar>::inverse_covariance(double penalty) const {
  assert(!symmetric_ && !dual_ && options_.pca_energy == 1);
  const Block& block = blocks_.front();
  const NormalEquations<Scalar> equations = total(block, -1);
  InverseCovariance result;
  result.weight = static_cast<double>(equations.weight_sum);
  Matrix<double> covariance = equations.gram.dense().template cast<double>();
  const Vector<double> sum = equations.feature_sum.template cast<double>();
  if (bias_) covariance.noalias() -= sum * sum.transpose() / result.weight;
  covariance.diagonal().array() += penalty;
  const Eigen::LLT<Matrix<double>> llt(covariance);
  if (llt.info() != Eigen::Success)
    throw Error(
        formatted("the covariance of the features is not positive definite with penalty "
                  "{}; online updates need a larger one",
                  penalty));
  const Index size = features_ + (bias_ ? 1 : 0);
  Vector<double> factors = Vector<double>::Ones(features_);
  if (block.feature_factors.size() > 0) factors = block.feature_factors.template cast<double>();
  result.matrix = Matrix<double>::Zero(size, size);
  result.matrix.topLeftCorner(features_, features_) =
      factors.asDiagonal() * llt.solve(Matrix<double>::Identity(features_, features_)) *
      factors.asDiagonal();
  // Symmetric to the bit, as a file gives it back.
  result.matrix = Matrix<double>(result.matrix.selfadjointView<Eigen::Lower>());
  if (bias_) {
    // At the mean the features and the bias do not mix.
    result.matrix(features_, features_) = 1 / result.weight;
    result.mean = sum / result.weight;
    for (Index i = 0; i < features_; ++i)
      if (factors[i] > 0) result.mean[i] /= factors[i];
    if (shift_.size() > 0) result.mean += shift_.template cast<double>();
  }
  result.reference = result.matrix.diagonal();
  return result;
}

template class StageRegression<float>;
template class StageRegression<double>;

}  // namespace sdm::detail
