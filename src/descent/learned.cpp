#include "sdm/descent/learned.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "descent/learned_block.h"
#include "sdm/base/error.h"
#include "sdm/descent/certificate.h"

namespace sdm {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// conformal_quantile of scores that are sorted already.
double conformal_bound(const std::vector<float>& ascending, double confidence) {
  const std::size_t rank = conformal_rank(ascending.size(), confidence);
  return rank > ascending.size() ? kInfinity : ascending[rank - 1];
}

}  // namespace

/// What one worker solves with.
struct LearnedWorkspace {
  std::vector<LearnedBlock> blocks;  // the maps' answers, of as many fits as h takes at once
  WideEvaluation evaluate;
  LearnedBlock refined, single;  // the refined ones, one fit at a time
  Refiner<> refiner;
  Vector<double> x, y, scratch, u, best_u, components;
  std::array<Index, kBlockColumns> refined_columns{};  // of the block
  std::vector<std::pair<double, Index>> nearest;
  RefineOptions refine_options;
  Matrix<double> at_u;  // the last map there, states x components

  LearnedWorkspace(const LearnedModel& model, std::size_t blocks_at_once,
                   const RefineOptions& options)
      : blocks(blocks_at_once, LearnedBlock(model)),
        evaluate(model, blocks_at_once),
        refined(model),
        single(model),
        refiner(model.states(), model.features),
        x(model.states()),
        y(model.features),
        scratch(model.states() + model.features),
        u(model.states()),
        best_u(model.states()),
        components(model.components.rows()),
        nearest(at(model.example_states.cols())),
        refine_options(options),
        at_u(model.states(), model.components.rows()) {
    single.columns = 1;
  }
};

/// One call of solve_batch.
class LearnedRun {
 public:
  LearnedRun(const Learned& learned, const LearnedSolveOptions& options, ConstMatrixRef<double> y,
             int workers, const AnswerArrays& answers)
      : model_(learned.model_),
        h_(learned.h_),
        start_(learned.start_),
        options_(options),
        y_(y),
        answers_(answers) {
    at_once_ = std::clamp<Index>(h_.widest() / kBlockColumns, 1, blocks_of(y.cols()));
    for (int w = 0; w < workers; ++w)
      spaces_.emplace_back(model_, at(at_once_), options.refine_options);
    quantile_ = conformal_bound(model_.gate.scores, options.confidence);
    evaluations_.assign(at(workers), 0);
    refined_.assign(at(workers), 0);
  }

  static Index blocks_of(Index columns) {
    return std::max<Index>(1, (columns + kBlockColumns - 1) / kBlockColumns);
  }
  /// Tasks that can be done apart.
  Index tasks() const {
    return y_.cols() == 0 ? 0 : (blocks_of(y_.cols()) + at_once_ - 1) / at_once_;
  }

  void task(Index number, int worker) {
    LearnedWorkspace& space = spaces_[static_cast<std::size_t>(worker)];
    const Index first = number * at_once_ * kBlockColumns;
    const Index count = std::min(at_once_, blocks_of(y_.cols() - first));
    for (Index b = 0; b < count; ++b) {
      const Index from = first + b * kBlockColumns;
      space.blocks[at(b)].load(model_, y_, from, std::min(kBlockColumns, y_.cols() - from));
    }
    descend(space.blocks, at(count), model_, h_, start_, space.evaluate);
    for (Index b = 0; b < count; ++b)
      answer(space, space.blocks[at(b)], first + b * kBlockColumns, worker);
  }

  void answer(LearnedWorkspace& space, LearnedBlock& block, Index first, int worker) {
    block.measure_distance();
    block.judge(model_);
    Index evaluations = block.evaluations * block.columns;
    space.refined.columns = 0;
    for (Index i = 0; i < block.columns; ++i) {
      const bool trusted = is_trusted(block, i);
      if (options_.refine == RefineWhen::kAlways ||
          (options_.refine == RefineWhen::kDoubtful && !trusted)) {
        evaluations += take_refined(space, block, i);
      } else {
        write(block, i, first + i,
              trusted                                      ? Trust::kTrusted
              : is_usual(block, i) && !is_inside(block, i) ? Trust::kOutside
                                                           : Trust::kFailed);
      }
    }
    if (space.refined.columns > 0) {
      look(space.refined);
      evaluations += space.refined.columns;
    }
    for (Index k = 0; k < space.refined.columns; ++k) {
      const Index i = space.refined_columns[at(k)];
      const bool trusted = is_trusted(block, i);
      // A trusted answer that refining moves out of the box, at a usual residual, is the best fit.
      if (is_good(space.refined, k) || (trusted && is_usual(space.refined, k))) {
        write(space.refined, k, first + i, after_refining(space.refined, k, trusted));
      } else {
        evaluations += try_further_starts(space, k);
        write(space.single, 0, first + i, after_refining(space.single, 0, trusted));
      }
    }
    refined_[static_cast<std::size_t>(worker)] += space.refined.columns;
    evaluations_[static_cast<std::size_t>(worker)] += evaluations;
  }

  SolveCounts counts() const {
    SolveCounts sum;
    for (const Index count : evaluations_) sum.evaluations += count;
    for (const Index count : refined_) sum.refined += count;
    return sum;
  }

 private:
  bool is_usual(const LearnedBlock& block, Index i) const {
    return block.residual[at(i)] < kInfinity &&
           block.relative_residual[at(i)] <= model_.gate.residual;
  }
  bool is_inside(const LearnedBlock& block, Index i) const {
    return block.overshoot[at(i)] <= model_.gate.overshoot;
  }
  bool is_good(const LearnedBlock& block, Index i) const {
    return is_usual(block, i) && is_inside(block, i);
  }
  bool is_trusted(const LearnedBlock& block, Index i) const {
    return is_good(block, i) && block.pending[at(i)] <= model_.gate.step;
  }
  Trust after_refining(const LearnedBlock& block, Index i, bool trusted_before) const {
    if (!is_usual(block, i)) return Trust::kFailed;
    if (!is_inside(block, i)) return Trust::kOutside;
    return trusted_before ? Trust::kTrusted : Trust::kRefined;
  }

  void write(const LearnedBlock& block, Index from, Index to, Trust trust) {
    const Index n = model_.states();
    for (Index j = 0; j < n; ++j) {
      const double x = block.x(j, from);
      answers_.x[to * n + j] = x;
      if (answers_.radius != nullptr)
        answers_.radius[to * n + j] =
            quantile_ * block.scale(j, from) * std::abs(model_.box.slope(j, x));
    }
    if (answers_.trust != nullptr) answers_.trust[to] = trust;
    if (answers_.residual != nullptr) answers_.residual[to] = block.distance[at(from)];
    if (answers_.relative_residual != nullptr)
      answers_.relative_residual[to] = block.relative_residual[at(from)];
  }

  /// Refines the maps' answer to a column of the block into the next of `refined`, which is looked
  /// at when all are there. Gives the evaluations of h.
  int take_refined(LearnedWorkspace& space, const LearnedBlock& block, Index column) {
    LearnedBlock& refined = space.refined;
    const Index to = refined.columns++;
    space.refined_columns[at(to)] = column;
    refined.y.col(to) = space.y = block.y.col(column);
    refined.target.col(to) = block.target.col(column);
    space.u = block.u.col(column);
    const int evaluations = block.residual[at(column)] < kInfinity ? refine_from_u(space) : 0;
    refined.u.col(to) = space.u;
    return evaluations;
  }

  /// Refines from the examples most like y, which is that of a column of `refined`. Leaves the best
  /// of all in `single`. Gives the evaluations of h.
  int try_further_starts(LearnedWorkspace& space, Index column) {
    LearnedBlock& single = space.single;
    single.y.col(0) = space.y = space.refined.y.col(column);
    single.target.col(0) = space.refined.target.col(column);
    const auto cost_of = [&](const LearnedBlock& block, Index i) {
      double cost = 0;
      for (Index r = 0; r < model_.features; ++r) {
        const double e = weight(r) * (block.values(r, i) - block.y(r, i));
        cost += e * e;
      }
      return cost;
    };
    int evaluations = 0;
    space.best_u = space.refined.u.col(column);
    double best_cost = cost_of(space.refined, column);
    find_nearest(space);
    const Index starts =
        std::min<Index>(options_.further_starts, static_cast<Index>(space.nearest.size()));
    for (Index s = 0; s < starts; ++s) {
      space.u = model_.example_states.col(space.nearest[at(s)].second);
      evaluations += refine_from_u(space) + 1;
      single.u.col(0) = space.u;
      look(single);
      if (is_good(single, 0)) return evaluations;
      const double cost = cost_of(single, 0);
      if (cost < best_cost || !std::isfinite(best_cost)) {
        best_cost = cost;
        space.best_u = space.u;
      }
    }
    single.u.col(0) = space.best_u;
    look(single);
    return evaluations + 1;
  }

  void look(LearnedBlock& block) const {
    block.place(model_);
    block.evaluate(h_);
    block.measure(model_);
    block.measure_distance();
    block.judge(model_);
  }

  double weight(Index feature) const {
    return model_.noise.size() == 0 ? 1 : 1 / model_.noise[feature];
  }

  /// Refines space.u for space.y, in u, where all values are of one size. Leaves it where it is if
  /// |h - y|^2 or a derivative is not finite there.
  int refine_from_u(LearnedWorkspace& space) {
    const Index n = model_.states(), m = model_.features;
    Vector<double>& x = space.x;
    const bool weighted = model_.noise.size() > 0;
    int evaluations = 0;
    const auto residual = [&](const auto& u, auto&& out) {
      ++evaluations;
      for (Index j = 0; j < n; ++j) x[j] = model_.box.from_unit(j, u[j]);
      h_(ConstBlockRef<double>(Eigen::Map<const Block<double>>(x.data(), n, 1)),
         BlockRef<double>(Eigen::Map<Block<double>>(out.data(), m, 1)), space.scratch);
      out -= space.y;
      if (weighted) out.array() /= model_.noise.array();
    };
    const auto jacobian = [&](const auto& u, auto&& out) {
      for (Index j = 0; j < n; ++j) x[j] = model_.box.from_unit(j, u[j]);
      h_.jacobian()(x, out);
      for (Index j = 0; j < n; ++j) out.col(j) *= model_.box.slope(j, x[j]);
      if (weighted) out.array().colwise() /= model_.noise.array();
    };
    if (!h_.jacobian() && m == n) seed_broyden(space.u, space);
    try {
      if (h_.jacobian())
        space.refiner.refine(space.u, residual, jacobian, space.refine_options);
      else
        space.refiner.refine(space.u, residual, NoJacobian{}, space.refine_options);
    } catch (const Error&) {
      // No derivatives there: the state stays, and the gate judges it.
    }
    return evaluations;
  }

  /// The last map at u as an inverse of the Jacobian: it moves u by -R (h(x) - y) / noise.
  void seed_broyden(const Vector<double>& u, LearnedWorkspace& space) const {
    if (model_.compression != Compression::kNone) return;
    const Index n = model_.states(), q = model_.components.rows();
    const LearnedStage& stage = model_.stages.back();
    LearnedBlock& single = space.single;
    single.u.col(0) = u;
    single.c.col(0).head(q).setZero();
    single.route(stage);
    const Block<double>& map = stage.maps[static_cast<std::size_t>(single.cell[0])];
    const Block<double>& terms = single.polynomial(stage.order);
    space.at_u.setZero();
    for (Index l = 0; l < polynomial_terms(n, stage.order); ++l)
      space.at_u += terms(l, 0) * map.middleRows(l * n, n).leftCols(q);
    Matrix<double>& seed = space.refine_options.seed;
    seed.resize(n, model_.features);
    for (Index r = 0; r < model_.features; ++r) {
      seed.col(r).setZero();
      for (Index k = 0; k < q; ++k) seed.col(r) -= space.at_u.col(k) * model_.components(k, r);
      seed.col(r) *= model_.weight[r] / weight(r);
    }
  }

  void find_nearest(LearnedWorkspace& space) const {
    const Index m = model_.features;
    space.components.setZero();
    for (Index r = 0; r < m; ++r)
      space.components += model_.components.col(r) * (model_.weight[r] * space.single.target(r, 0));
    for (std::size_t e = 0; e < space.nearest.size(); ++e)
      space.nearest[e] = {
          (model_.example_components.col(static_cast<Index>(e)) - space.components).squaredNorm(),
          static_cast<Index>(e)};
    std::sort(space.nearest.begin(), space.nearest.end());
  }

  const LearnedModel& model_;
  const AnyFunction& h_;
  const StartRule& start_;
  const LearnedSolveOptions& options_;
  ConstMatrixRef<double> y_;
  const AnswerArrays& answers_;
  std::vector<LearnedWorkspace> spaces_;
  std::vector<Index> evaluations_, refined_;
  double quantile_ = 0;
  Index at_once_ = 1;  // blocks
};

const char* name(Trust trust) {
  switch (trust) {
    case Trust::kTrusted:
      return "trusted";
    case Trust::kRefined:
      return "refined";
    case Trust::kOutside:
      return "outside";
    case Trust::kFailed:
      break;
  }
  return "failed";
}

std::string Answer::message() const {
  switch (trust) {
    case Trust::kTrusted:
      return formatted("trusted: residual {:.4g}, {:.2f} times the usual", residual,
                       relative_residual);
    case Trust::kRefined:
      return formatted(
          "refined: the learned maps alone were doubtful; residual {:.4g}, {:.2f} "
          "times the usual",
          residual, relative_residual);
    case Trust::kOutside:
      return "outside: the best fit found lies outside the box that was learned; learn a wider "
             "one if such values are to be expected";
    case Trust::kFailed:
      break;
  }
  if (!std::isfinite(residual)) return "failed: h gave a value that is not finite";
  return formatted(
      "failed: the residual {:.4g} is {:.3g} times the usual; were the measurements as noisy as "
      "learning was told, and are they of this h?",
      residual, relative_residual);
}

Index Answers::count(Trust which) const {
  return static_cast<Index>(std::count(trust.begin(), trust.end(), which));
}

std::string Answers::brief_report() const {
  std::string text = formatted("{} answers:", size());
  const char* between = " ";
  for (const Trust which : {Trust::kTrusted, Trust::kRefined, Trust::kOutside, Trust::kFailed}) {
    text += formatted("{}{} {}", between, count(which), name(which));
    between = ", ";
  }
  return text;
}

void LearnedSolveOptions::validate() const {
  if (!(confidence > 0 && confidence < 1))
    throw Error(formatted("the confidence is {}, expected between 0 and 1", confidence));
  if (further_starts < 0)
    throw Error(formatted("further_starts is {}, expected 0 or more", further_starts));
  refine_options.validate();
  if (refine_options.method == RefineMethod::kBroyden)
    throw Error(
        "refine_options of a learned solver ask for Broyden's method: it is taken by itself "
        "where there are as many features as states and no Jacobian");
  if (refine_options.lower.size() > 0 || refine_options.upper.size() > 0 ||
      refine_options.seed.size() > 0 || refine_options.covariance)
    throw Error(
        "refine_options of a learned solver has bounds, a seed or asks for a covariance: it works "
        "in "
        "the box's own coordinates and sees to these itself; call sdm::refine for them");
}

Learned::Learned(LearnedModel model, AnyFunction h, StartRule start)
    : model_(std::move(model)), h_(std::move(h)), start_(std::move(start)) {
  model_.validate();
  if (!h_) throw Error("a learned solver needs the function h it was learned for");
  if (model_.has_start_rule != static_cast<bool>(start_))
    throw Error(model_.has_start_rule
                    ? "this solver was learned with a start rule: give the same one again"
                    : "this solver was learned without a start rule, but one is given");
}

SolveCounts Learned::run(ConstMatrixRef<double> y, const LearnedSolveOptions& options, int workers,
                         const ForEachBlock& for_each, const AnswerArrays& answers) const {
  options.validate();
  if (y.rows() != model_.features)
    throw Error(formatted("y has {} values, h has {}", y.rows(), model_.features));
  for (Index i = 0; i < y.cols(); ++i)
    if (!y.col(i).allFinite())
      throw Error(formatted("measurement {} has a value that is not finite", i));
  LearnedRun run(*this, options, y, workers, answers);
  for_each(run.tasks(), [&](Index number, int worker) { run.task(number, worker); });
  return run.counts();
}

Answers Learned::run(ConstMatrixRef<double> y, const LearnedSolveOptions& options, int workers,
                     const ForEachBlock& for_each) const {
  Answers answers;
  answers.x.resize(model_.states(), y.cols());
  answers.radius.resize(model_.states(), y.cols());
  answers.trust.resize(at(y.cols()));
  answers.residual.resize(y.cols());
  answers.relative_residual.resize(y.cols());
  const SolveCounts counts = run(y, options, workers, for_each,
                                 {answers.x.data(), answers.radius.data(), answers.trust.data(),
                                  answers.residual.data(), answers.relative_residual.data()});
  answers.evaluations = counts.evaluations;
  answers.refined = counts.refined;
  return answers;
}

namespace {

void one_after_the_other(Index count, const std::function<void(Index, int)>& task) {
  for (Index i = 0; i < count; ++i) task(i, 0);
}

}  // namespace

Answers Learned::solve_batch(ConstMatrixRef<double> y, const LearnedSolveOptions& options) const {
  return run(y, options, 1, one_after_the_other);
}

SolveCounts Learned::solve_batch(ConstMatrixRef<double> y, const AnswerArrays& answers,
                                 const LearnedSolveOptions& options) const {
  return run(y, options, 1, one_after_the_other, answers);
}

Answer Learned::solve(const Vector<double>& y, const LearnedSolveOptions& options) const {
  const Answers one = solve_batch(y, options);
  return {one.x.col(0),      one.trust.front(),
          one.residual[0],   one.relative_residual[0],
          one.radius.col(0), static_cast<int>(one.evaluations),
          one.refined > 0};
}

std::string Learned::brief_report() const {
  const auto& r = model_.record;
  return formatted(
      "{} states, {} features, noise {}: {} stages from {} samples in {:.2g} s, {} evaluations; "
      "on {} fresh samples {:.2f} % refined, {:.2f} % refused",
      model_.states(), model_.features, r.noise, model_.stages.size(), r.samples, r.seconds,
      r.evaluations, r.calibration, 100 * r.refined, 100 * r.refused);
}

std::string Learned::full_report() const {
  const auto& r = model_.record;
  std::string text = brief_report() + "\n";
  text += formatted("{} components of the features; start {}; features {}\n",
                    model_.components.rows(), model_.has_start_rule ? "by a rule" : "fixed",
                    model_.compression == Compression::kNone   ? "as they are"
                    : model_.compression == Compression::kRoot ? "as roots of counts"
                                                               : "on an asinh scale");
  text += " stage  order  cells  held-out error (1: half the box)\n";
  for (std::size_t k = 0; k < model_.stages.size(); ++k)
    text += formatted("{:6} {:6} {:6} {:15.4g}\n", k, model_.stages[k].order,
                      model_.stages[k].maps.size(), k < r.held_out.size() ? r.held_out[k] : NAN);
  text += " value              from          to    rms error       median   (fresh samples)\n";
  for (Index j = 0; j < model_.states(); ++j) {
    const Axis& axis = model_.box.axes()[at(j)];
    text += formatted(" {:12} {:10.4g}  {:10.4g}   {:10.4g}   {:10.4g}{}\n", model_.box.name(j),
                      axis.low, axis.high, r.error[j], r.median[j],
                      axis.scale == Axis::Scale::kLog ? "   log" : "");
  }
  text += formatted(
      "trusted: residual up to {:.2f} times the usual, a further step up to {:.2f} and a "
      "place outside the box up to {:.2f} usual errors\n",
      model_.gate.residual, model_.gate.step, model_.gate.overshoot);
  return text;
}

}  // namespace sdm
