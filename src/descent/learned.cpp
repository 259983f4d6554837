#include "sdm/descent/learned.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "descent/learned_block.h"
#include "sdm/base/error.h"
#include "sdm/descent/certificate.h"

namespace sdm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// conformal_quantile of scores that are sorted already.
double conformal_bound(const std::vector<float>& ascending, double confidence) {
  const std::size_t rank = conformal_rank(ascending.size(), confidence);
  return rank > ascending.size() ? kInfinity : ascending[rank - 1];
}

/// What one worker solves with.
struct Workspace {
  LearnedBlock block, single;
  Refiner<> refiner;
  Vector<double> x, values, scratch, seed_u, best_u, components;
  std::vector<std::pair<double, Index>> nearest;
  RefineOptions refine_options;

  Workspace(const LearnedModel& model, const RefineOptions& options)
      : block(model),
        single(model),
        refiner(model.states(), model.features),
        x(model.states()),
        values(model.features),
        scratch(model.states() + model.features),
        seed_u(model.states()),
        best_u(model.states()),
        components(model.components.rows()),
        nearest(at(model.example_states.cols())),
        refine_options(options) {
    single.columns = 1;
  }
};

}  // namespace

/// One call of solve_batch.
class LearnedRun {
 public:
  LearnedRun(const Learned& learned, const LearnedSolveOptions& options, ConstMatrixRef<double> y,
             int workers, Answers& answers)
      : model_(learned.model_),
        h_(learned.h_),
        start_(learned.start_),
        options_(options),
        y_(y),
        answers_(answers) {
    for (int w = 0; w < workers; ++w) spaces_.emplace_back(model_, options.refine_options);
    quantile_ = conformal_bound(model_.gate.scores, options.confidence);
    evaluations_.assign(at(workers), 0);
    refined_.assign(at(workers), 0);
  }

  void block(Index number, int worker) {
    Workspace& space = spaces_[static_cast<std::size_t>(worker)];
    LearnedBlock& block = space.block;
    const Index first = number * kBlockColumns;
    block.load(model_, y_, first, std::min(kBlockColumns, y_.cols() - first));
    block.descend(model_, h_, start_);
    block.measure_distance();
    block.judge(model_);
    Index evaluations = block.evaluations * block.columns;
    for (Index i = 0; i < block.columns; ++i) {
      const bool trusted =
          is_inside(block, i) && is_usual(block, i) && block.pending[at(i)] <= model_.gate.step;
      const bool refine = options_.refine == RefineWhen::kAlways ||
                          (options_.refine == RefineWhen::kDoubtful && !trusted);
      if (refine) {
        evaluations += polish(space, i);
        ++refined_[static_cast<std::size_t>(worker)];
        write(space.single, 0, first + i, after_refining(space.single, trusted));
      } else {
        write(block, i, first + i,
              trusted                                      ? Trust::kTrusted
              : is_usual(block, i) && !is_inside(block, i) ? Trust::kOutside
                                                           : Trust::kFailed);
      }
    }
    evaluations_[static_cast<std::size_t>(worker)] += evaluations;
  }

  void finish() {
    for (const Index count : evaluations_) answers_.evaluations += count;
    for (const Index count : refined_) answers_.refined += count;
  }

 private:
  bool is_usual(const LearnedBlock& block, Index i) const {
    return block.relative_residual[at(i)] <= model_.gate.residual;
  }
  bool is_inside(const LearnedBlock& block, Index i) const {
    return block.overshoot[at(i)] <= model_.gate.overshoot;
  }
  Trust after_refining(const LearnedBlock& single, bool trusted_before) const {
    if (!is_usual(single, 0)) return Trust::kFailed;
    if (!is_inside(single, 0)) return Trust::kOutside;
    return trusted_before ? Trust::kTrusted : Trust::kRefined;
  }

  void write(const LearnedBlock& block, Index from, Index to, Trust trust) {
    for (Index j = 0; j < model_.states(); ++j) {
      const double x = block.x(j, from);
      answers_.x(j, to) = x;
      answers_.radius(j, to) = quantile_ * block.scale(j, from) * std::abs(model_.box.slope(j, x));
    }
    answers_.trust[at(to)] = trust;
    answers_.residual[to] = block.distance[at(from)];
    answers_.relative_residual[to] = block.relative_residual[at(from)];
  }

  /// Refines from the maps' answer, and where that is no good from the examples most like y. Leaves
  /// the best of them in `single`. Gives the evaluations of h.
  int polish(Workspace& space, Index column) {
    LearnedBlock& single = space.single;
    single.y.col(0) = space.block.y.col(column);
    single.target.col(0) = space.block.target.col(column);
    space.seed_u = space.block.u.col(column);
    int evaluations = 0;
    double best_cost = kInfinity;
    const auto attempt = [&] {
      evaluations += refine_single(space);
      double cost = 0;
      for (Index r = 0; r < model_.features; ++r) {
        const double e = weight(r) * (single.values(r, 0) - single.y(r, 0));
        cost += e * e;
      }
      if (cost < best_cost) {
        best_cost = cost;
        space.best_u = single.u.col(0);
      }
    };
    if (space.block.residual[at(column)] < kInfinity) attempt();
    const auto is_good = [&] { return is_usual(single, 0) && is_inside(single, 0); };
    if (best_cost < kInfinity && is_good()) return evaluations;
    find_nearest(space);
    const Index starts =
        std::min<Index>(options_.further_starts, static_cast<Index>(space.nearest.size()));
    for (Index s = 0; s < starts; ++s) {
      space.seed_u = model_.example_states.col(space.nearest[at(s)].second);
      attempt();
      if (is_good()) return evaluations;
    }
    single.u.col(0) = best_cost < kInfinity ? space.best_u : space.seed_u;
    look(single);
    return evaluations + 1;
  }

  void look(LearnedBlock& single) const {
    single.place(model_);
    single.evaluate(h_);
    single.measure(model_);
    single.measure_distance();
    single.judge(model_);
  }

  double weight(Index feature) const {
    return model_.noise.size() == 0 ? 1 : 1 / model_.noise[feature];
  }

  /// Refines from seed_u into `single`, in u, where all values are of one size. h is finite there.
  int refine_single(Workspace& space) {
    LearnedBlock& single = space.single;
    const Index n = model_.states(), m = model_.features;
    Vector<double>& x = space.x;
    const auto residual = [&](const auto& u, auto&& out) {
      for (Index j = 0; j < n; ++j) x[j] = model_.box.from_unit(j, u[j]);
      h_(ConstBlockRef<double>(Eigen::Map<const Block<double>>(x.data(), n, 1)),
         BlockRef<double>(Eigen::Map<Block<double>>(space.values.data(), m, 1)), space.scratch);
      for (Index r = 0; r < m; ++r) out[r] = weight(r) * (space.values[r] - single.y(r, 0));
    };
    const auto jacobian = [&](const auto& u, auto&& out) {
      for (Index j = 0; j < n; ++j) x[j] = model_.box.from_unit(j, u[j]);
      h_.jacobian()(x, out);
      for (Index j = 0; j < n; ++j) out.col(j) *= model_.box.slope(j, x[j]);
      if (model_.noise.size() > 0)
        for (Index r = 0; r < m; ++r) out.row(r) *= weight(r);
    };
    Vector<double>& u = space.seed_u;
    if (!h_.jacobian() && m == n) seed_broyden(u, space);
    const RefineSummary summary =
        h_.jacobian() ? space.refiner.refine(u, residual, jacobian, space.refine_options)
                      : space.refiner.refine(u, residual, NoJacobian{}, space.refine_options);
    single.u.col(0) = u;
    look(single);
    return summary.evaluations + 1;
  }

  /// The last map at u as an inverse of the Jacobian: it moves u by -R (h(x) - y) / noise.
  void seed_broyden(const Vector<double>& u, Workspace& space) const {
    if (model_.compression != Compression::kNone) return;
    const Index n = model_.states(), q = model_.components.rows();
    const LearnedStage& stage = model_.stages.back();
    LearnedBlock& single = space.single;
    single.u.col(0) = u;
    single.c.col(0).head(q).setZero();
    single.route(stage);
    const Block<double>& map = stage.maps[static_cast<std::size_t>(single.cell[0])];
    const Block<double>& terms = single.polynomial(stage.order);
    Matrix<double> at_u = Matrix<double>::Zero(n, q);
    for (Index l = 0; l < polynomial_terms(n, stage.order); ++l)
      at_u += terms(l, 0) * map.middleRows(l * n, n).leftCols(q);
    space.refine_options.seed = -at_u * model_.components * model_.weight.asDiagonal();
    for (Index r = 0; r < model_.features; ++r) space.refine_options.seed.col(r) /= weight(r);
  }

  void find_nearest(Workspace& space) const {
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
  Answers& answers_;
  std::vector<Workspace> spaces_;
  std::vector<Index> evaluations_, refined_;
  double quantile_ = 0;
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

Answers Learned::run(ConstMatrixRef<double> y, const LearnedSolveOptions& options, int workers,
                     const ForEachBlock& for_each) const {
  options.validate();
  if (y.rows() != model_.features)
    throw Error(formatted("y has {} values, h has {}", y.rows(), model_.features));
  for (Index i = 0; i < y.cols(); ++i)
    if (!y.col(i).allFinite())
      throw Error(formatted("measurement {} has a value that is not finite", i));
  Answers answers;
  answers.x.resize(model_.states(), y.cols());
  answers.radius.resize(model_.states(), y.cols());
  answers.trust.assign(at(y.cols()), Trust::kFailed);
  answers.residual.resize(y.cols());
  answers.relative_residual.resize(y.cols());
  LearnedRun run(*this, options, y, workers, answers);
  for_each((y.cols() + kBlockColumns - 1) / kBlockColumns,
           [&](Index block, int worker) { run.block(block, worker); });
  run.finish();
  return answers;
}

Answers Learned::solve_batch(ConstMatrixRef<double> y, const LearnedSolveOptions& options) const {
  return run(y, options, 1, [](Index count, const std::function<void(Index, int)>& task) {
    for (Index i = 0; i < count; ++i) task(i, 0);
  });
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
