#include "descent/learned_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sdm {
namespace {

// A later iterate is preferred to an earlier one unless its residual is this much larger.
constexpr double kLater = 1.25;

/// Columns in whole vectors: the exponential of a value must not depend on how many stand beside
/// it.
Index whole_vectors(Index columns) { return (columns + 7) / 8 * 8; }

Block<double> block(Index rows) { return Block<double>::Zero(rows, kBlockColumns); }

}  // namespace

void compress(const LearnedModel& model, BlockRef<double> values) {
  switch (model.compression) {
    case Compression::kNone:
      break;
    case Compression::kRoot:
      values = (values.array().max(0) + 0.375).sqrt();
      break;
    case Compression::kAsinh:
      for (Index r = 0; r < values.rows(); ++r)
        for (Index i = 0; i < values.cols(); ++i)
          values(r, i) = std::asinh((values(r, i) - model.centre[r]) / model.scale[r]);
      break;
  }
}

void polynomial_rows(const Block<double>& u, int order, Index columns, Block<double>& out) {
  const Index n = u.rows();
  out.row(0).setOnes();
  if (order == 0) return;
  const auto row = [&](auto& of, Index r) { return of.row(r).head(columns).array(); };
  for (Index j = 0; j < n; ++j) row(out, 1 + j) = row(u, j);
  if (order == 1) return;
  Index l = 1 + n;
  for (Index j = 0; j < n; ++j)
    for (Index k = j; k < n; ++k, ++l) row(out, l) = row(u, j) * row(u, k);
}

LearnedBlock::LearnedBlock(const LearnedModel& model) {
  const Index n = model.states(), m = model.features, q = model.components.rows();
  u = x = delta = best_u_ = block(n);
  values = y = target = z = block(m);
  c = block(q + 1);
  c.row(q).setOnes();
  Index terms = 1;
  for (const LearnedStage& stage : model.stages)
    terms = std::max(terms, polynomial_terms(n, stage.order));
  terms_ = block(std::max(terms, model.gate.log_scales.cols()));
  products_ = gathered_products_ = block(n * terms);
  gathered_ = block(q + 1);
  scale = block(n + 1);
  scratch_ = Vector<double>::Zero(n + m);
}

void LearnedBlock::load(const LearnedModel& model, ConstMatrixRef<double> all_y, Index first,
                        Index count) {
  columns = count;
  // In tiles that the cache holds: one side is stored by columns, the other by rows.
  constexpr Index tile = 8;
  for (Index r = 0; r < y.rows(); r += tile)
    for (Index i = 0; i < count; i += tile)
      for (Index row = r; row < std::min(r + tile, y.rows()); ++row)
        for (Index column = i; column < std::min(i + tile, count); ++column)
          y(row, column) = all_y(row, first + column);
  target = y;
  compress(model, target.leftCols(count));
}

void LearnedBlock::place(const LearnedModel& model) {
  for (Index j = 0; j < u.rows(); ++j)
    model.box.from_unit(j, whole_vectors(columns), &u(j, 0), &x(j, 0));
}

void LearnedBlock::start(const LearnedModel& model, const StartRule& rule) {
  const Index n = u.rows();
  if (!model.has_start_rule) {
    u.colwise() = model.start;
    place(model);
    values.colwise() = model.at_start;
    return;
  }
  auto at = scratch_.head(n);
  auto measured = scratch_.tail(y.rows());
  for (Index i = 0; i < columns; ++i) {
    measured = y.col(i);
    at.setZero();
    rule(measured, at);
    for (Index j = 0; j < n; ++j) {
      const double place = model.box.to_unit(j, at[j]);
      // Not a number: the rule had nothing to say.
      u(j, i) = std::isnan(place) ? 0 : std::clamp(place, -model.reach, model.reach);
    }
  }
  place(model);
}

void LearnedBlock::evaluate(const AnyFunction& h) {
  h(x.leftCols(columns), values.leftCols(columns), scratch_);
}

void LearnedBlock::measure(const LearnedModel& model) {
  const Index m = values.rows(), q = c.rows() - 1;
  if (model.compression == Compression::kAsinh) {
    z.leftCols(columns) = values.leftCols(columns);
    compress(model, z.leftCols(columns));
    residual_block(false, z.data(), target.data(), model.weight.data(), m, columns, z.data(),
                   residual.data());
  } else {
    residual_block(model.compression == Compression::kRoot, values.data(), target.data(),
                   model.weight.data(), m, columns, z.data(), residual.data());
  }
  for (Index i = 0; i < columns; ++i) {
    double& r = residual[static_cast<std::size_t>(i)];
    r = std::isfinite(r) ? std::sqrt(r / static_cast<double>(m)) : kInfinity;
  }
  multiply_block(model.components.data(), q, m, z.data(), columns, c.data());
}

void LearnedBlock::measure_distance() {
  Eigen::Map<Eigen::RowVectorXd> sums(distance.data(), columns);
  sums.setZero();
  for (Index r = 0; r < y.rows(); ++r)
    sums.array() += (values.row(r).head(columns) - y.row(r).head(columns)).array().square();
  sums = sums.cwiseSqrt();
}

void LearnedBlock::route(const LearnedStage& stage) {
  const Index n = u.rows(), q = c.rows() - 1;
  std::fill(cell.begin(), cell.end(), 0);
  for (Index b = 0; b < stage.axes.rows(); ++b) {
    auto side = gathered_.row(0).head(columns);
    side.setConstant(stage.offsets[b]);
    for (Index j = 0; j < n + q; ++j)
      if (stage.axes(b, j) != 0)
        side += stage.axes(b, j) * (j < n ? u.row(j) : c.row(j - n)).head(columns);
    for (Index i = 0; i < columns; ++i) {
      int& bits = cell[static_cast<std::size_t>(i)];
      bits = 2 * bits + (side[i] >= 0 ? 1 : 0);
    }
  }
}

void LearnedBlock::foretell(const LearnedStage& stage) {
  const Index n = u.rows(), inner = c.rows(), terms = polynomial_terms(n, stage.order);
  const Index rows = n * terms;
  if (stage.maps.size() == 1) {
    multiply_block(stage.maps.front().data(), rows, inner, c.data(), columns, products_.data());
  } else {
    // Columns of one cell are brought together, so that one product serves them.
    route(stage);
    for (std::size_t cell_number = 0; cell_number < stage.maps.size(); ++cell_number) {
      std::array<Index, kBlockColumns> members;
      Index count = 0;
      for (Index i = 0; i < columns; ++i)
        if (cell[static_cast<std::size_t>(i)] == static_cast<int>(cell_number))
          members[static_cast<std::size_t>(count++)] = i;
      if (count == 0) continue;
      for (Index k = 0; k < inner; ++k)
        for (Index i = 0; i < count; ++i)
          gathered_(k, i) = c(k, members[static_cast<std::size_t>(i)]);
      multiply_block(stage.maps[cell_number].data(), rows, inner, gathered_.data(), count,
                     gathered_products_.data());
      for (Index k = 0; k < rows; ++k)
        for (Index i = 0; i < count; ++i)
          products_(k, members[static_cast<std::size_t>(i)]) = gathered_products_(k, i);
    }
  }
  contract_block(polynomial(stage.order).data(), products_.data(), terms, n, columns, delta.data());
  for (Index i = 0; i < columns; ++i)
    if (!(residual[static_cast<std::size_t>(i)] < kInfinity)) delta.col(i).setZero();
}

void LearnedBlock::move(const LearnedModel& model) {
  for (Index j = 0; j < u.rows(); ++j) {
    auto row = u.row(j).head(columns).array();
    row = (row + delta.row(j).head(columns).array()).max(-model.reach).min(model.reach);
  }
}

void LearnedBlock::keep_best() {
  for (Index i = 0; i < columns; ++i) {
    const auto at = static_cast<std::size_t>(i);
    is_best_[at] = residual[at] <= kLater * best_residual_[at] && residual[at] < kInfinity;
    if (!is_best_[at]) continue;
    best_residual_[at] = std::min(best_residual_[at], residual[at]);
    best_u_.col(i) = u.col(i);
  }
}

void LearnedBlock::begin(const LearnedModel& model, const StartRule& rule) {
  evaluations = 0;
  std::fill(best_residual_.begin(), best_residual_.end(), kInfinity);
  start(model, rule);
}

void LearnedBlock::step(const LearnedModel& model, const LearnedStage& stage) {
  measure(model);
  keep_best();
  foretell(stage);
  move(model);
  place(model);
}

bool LearnedBlock::end(const LearnedModel& model) {
  measure(model);
  keep_best();
  bool undone = false;
  for (Index i = 0; i < columns; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (is_best_[at] || best_residual_[at] == kInfinity) continue;
    u.col(i) = best_u_.col(i);
    undone = true;
  }
  if (undone) place(model);
  return undone;
}

void LearnedBlock::descend(const LearnedModel& model, const AnyFunction& h, const StartRule& rule) {
  const auto evaluate_counted = [&] {
    evaluate(h);
    ++evaluations;
  };
  begin(model, rule);
  for (std::size_t k = 0; k < model.stages.size(); ++k) {
    if (k > 0 || model.has_start_rule) evaluate_counted();
    step(model, model.stages[k]);
  }
  evaluate_counted();
  if (!end(model)) return;
  // Rare, and only then worth an evaluation more: what is told of the answer must be of its x.
  evaluate_counted();
  measure(model);
}

WideEvaluation::WideEvaluation(const LearnedModel& model, std::size_t blocks)
    : scratch_(model.states() + model.features) {
  if (blocks < 2) return;
  const Index columns = static_cast<Index>(blocks) * kBlockColumns;
  x_.resize(model.states(), columns);
  values_.resize(model.features, columns);
}

void WideEvaluation::operator()(std::vector<LearnedBlock>& blocks, std::size_t count,
                                const AnyFunction& h) {
  Index columns = 0;
  for (std::size_t b = 0; b < count; ++b) {
    LearnedBlock& block = blocks[b];
    x_.middleCols(columns, block.columns) = block.x.leftCols(block.columns);
    columns += block.columns;
    ++block.evaluations;
  }
  h(x_.leftCols(columns), values_.leftCols(columns), scratch_);
  columns = 0;
  for (std::size_t b = 0; b < count; ++b) {
    LearnedBlock& block = blocks[b];
    block.values.leftCols(block.columns) = values_.middleCols(columns, block.columns);
    columns += block.columns;
  }
}

void descend(std::vector<LearnedBlock>& blocks, std::size_t count, const LearnedModel& model,
             const AnyFunction& h, const StartRule& rule, WideEvaluation& evaluate) {
  if (count == 1) {
    blocks.front().descend(model, h, rule);
    return;
  }
  for (std::size_t b = 0; b < count; ++b) blocks[b].begin(model, rule);
  for (std::size_t k = 0; k < model.stages.size(); ++k) {
    if (k > 0 || model.has_start_rule) evaluate(blocks, count, h);
    for (std::size_t b = 0; b < count; ++b) blocks[b].step(model, model.stages[k]);
  }
  evaluate(blocks, count, h);
  for (std::size_t b = 0; b < count; ++b) {
    if (!blocks[b].end(model)) continue;
    blocks[b].evaluate(h);
    ++blocks[b].evaluations;
    blocks[b].measure(model);
  }
}

void LearnedBlock::judge(const LearnedModel& model) {
  const Index n = u.rows();
  foretell(model.stages.back());
  // Beyond the box a polynomial says nothing.
  best_u_ = u.cwiseMin(1).cwiseMax(-1);
  const Block<double>& logs = model.gate.log_scales;
  polynomial_rows(best_u_, polynomial_order(n, logs.cols()), columns, terms_);
  multiply_block(logs.data(), logs.rows(), logs.cols(), terms_.data(), columns, scale.data());
  for (Index j = 0; j <= n; ++j) {
    auto logs_of = scale.row(j).head(whole_vectors(columns)).array();
    logs_of = logs_of.min(300).exp();
  }
  const auto used = scale.leftCols(columns);

  const auto row = [&](std::array<double, kBlockColumns>& of) {
    return Eigen::Map<Eigen::Array<double, 1, Eigen::Dynamic>>(of.data(), columns);
  };
  row(relative_residual) = row(residual) / used.row(n).array();
  auto step = row(pending), out = row(overshoot);
  step.setZero();
  out.setZero();
  for (Index j = 0; j < n; ++j) {
    step = step.max(delta.row(j).head(columns).array().abs() / used.row(j).array());
    out = out.max((u.row(j).head(columns).array().abs() - 1) / used.row(j).array());
  }
}

}  // namespace sdm
