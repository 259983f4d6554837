#pragma once

#include <array>
#include <limits>
#include <vector>

#include "descent/block_kernels.h"
#include "sdm/descent/learned.h"

namespace sdm {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// g of every value, in place.
void compress(const LearnedModel& model, BlockRef<double> values);

/// Monomials of the state up to an order, a row each: 1; u_j; u_j u_k with j <= k.
void polynomial_rows(const Block<double>& u, int order, Index columns, Block<double>& out);

/// Up to kBlockColumns problems on their way through the stages of a Learned: the loop of
/// descent/solve.h written again for many problems at once, a column each. Sized once; training
/// runs it too, so that what is learned is what will run.
class LearnedBlock {
 public:
  explicit LearnedBlock(const LearnedModel& model);

  // All have a column a problem and room for kBlockColumns.
  Block<double> u, x, values, y, target;         // target: y compressed
  Block<double> z, c, delta;                     // c: components, and a last row of ones
  std::array<double, kBlockColumns> residual{};  // root mean square of z, at u
  std::array<double, kBlockColumns> distance{};  // |values - y|
  Index columns = 0;

  /// Takes problems: columns of y, from `first`.
  void load(const LearnedModel& model, ConstMatrixRef<double> all_y, Index first, Index count);
  /// x of u.
  void place(const LearnedModel& model);
  /// x and u of the first stage; h is known there unless a rule gives the start.
  void start(const LearnedModel& model, const StartRule& rule);
  void evaluate(const AnyFunction& h);
  /// z, residual and components from values.
  void measure(const LearnedModel& model);
  void measure_distance();
  /// Monomials of u up to an order, a row each.
  const Block<double>& polynomial(int order) {
    polynomial_rows(u, order, columns, terms_);
    return terms_;
  }
  /// What a stage would move u by, into delta; zero for columns whose values are not finite.
  void foretell(const LearnedStage& stage);
  /// Moves u by delta.
  void move(const LearnedModel& model);
  /// The cell of every column, by what is in u and c.
  void route(const LearnedStage& stage);
  std::array<int, kBlockColumns> cell{};

  /// All stages: u, x, values, z, residual are then those of the best iterate.
  void descend(const LearnedModel& model, const AnyFunction& h, const StartRule& rule);
  int evaluations = 0;  // of each column, in descend

  /// What descend is made of: h is evaluated before every step (before the first only with a start
  /// rule), and before the end.
  void begin(const LearnedModel& model, const StartRule& rule);
  void step(const LearnedModel& model, const LearnedStage& stage);
  /// Whether some columns went back to an iterate before, so that h is to be evaluated and measured
  /// once more.
  bool end(const LearnedModel& model);

  /// What the gate asks of the answer, after measure: error scales of each value and of the
  /// residual, (states + 1) x columns; the residual, the step that the last stage would still take
  /// and how far u is outside the box, each relative to its scale.
  void judge(const LearnedModel& model);
  Block<double> scale;
  std::array<double, kBlockColumns> relative_residual{}, pending{}, overshoot{};

 private:
  void keep_best();

  Block<double> terms_, products_, best_u_, gathered_, gathered_products_;
  std::array<bool, kBlockColumns> is_best_{};
  std::array<double, kBlockColumns> best_residual_{};
  Vector<double> scratch_;
};

/// Evaluates h for several blocks in one call.
class WideEvaluation {
 public:
  WideEvaluation(const LearnedModel& model, std::size_t blocks);

  void operator()(std::vector<LearnedBlock>& blocks, std::size_t count, const AnyFunction& h);

 private:
  Block<double> x_, values_;
  Vector<double> scratch_;
};

/// LearnedBlock::descend for the first `count` of several blocks, in one call of h a stage.
void descend(std::vector<LearnedBlock>& blocks, std::size_t count, const LearnedModel& model,
             const AnyFunction& h, const StartRule& rule, WideEvaluation& evaluate);

}  // namespace sdm
