#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#ifdef __linux__
#include <sched.h>
#endif

#include "adapters/peers/fit_cases.h"
#include "experiments/fits/quality.h"
#include "experiments/fits/units.h"
#include "experiments/registry.h"
#include "report/machine.h"
#include "report/plot.h"
#include "report/statistics.h"

namespace sdm::experiments {
namespace {

using peers::FitAnswers;
using peers::FitCase;
using peers::FitSamples;

/// Keeps this thread on the core it is on, where the system lets it.
class PinnedCore {
 public:
#ifdef __linux__
  PinnedCore() {
    cpu_set_t one;
    CPU_ZERO(&one);
    const int core = sched_getcpu();
    if (core < 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    CPU_SET(core, &one);
    pinned_ = sched_setaffinity(0, sizeof one, &one) == 0;
  }
  ~PinnedCore() {
    if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  bool pinned_ = false;
#else
  PinnedCore() = default;
#endif

 public:
  PinnedCore(const PinnedCore&) = delete;
  PinnedCore& operator=(const PinnedCore&) = delete;
};

struct Method {
  std::string name;
  std::function<void(const Matrix<double>& y)> run;
  std::vector<double> seconds = {};  // a fit, of each repetition
};

/// Processor time of a fit: every method in turn, again and again, so that what slows the machine
/// for a while slows all of them; the median of the repetitions.
void measure_times(std::vector<Method>& methods, const Matrix<double>& y, int repetitions) {
  const PinnedCore pinned;
  for (int k = 0; k < repetitions; ++k)
    for (Method& method : methods) {
      const double start = processor_seconds();
      method.run(y);
      method.seconds.push_back((processor_seconds() - start) / static_cast<double>(y.cols()));
    }
}

std::vector<bool> accepted(const Answers& answers) {
  std::vector<bool> good;
  for (const Trust trust : answers.trust)
    good.push_back(trust == Trust::kTrusted || trust == Trust::kRefined);
  return good;
}

LearnedSolveOptions solve_options(RefineWhen when) {
  LearnedSolveOptions options;
  options.refine = when;
  options.refine_options.cost_tolerance = 1e-6;  // as the peers have it
  return options;
}

void add_quality(Results& results, const std::string& name, const std::string& method,
                 const FitQuality& quality) {
  results.add(name, method, "rmse_ratio", quality.rmse_ratio);
  results.add(name, method, "median_ratio", quality.median_ratio);
}

void add_trust(Results& results, const std::string& name, const std::string& method,
               const FitQuality& quality) {
  results.add(name, method, "silent_wrong_percent", quality.silent_wrong_percent, "%");
  results.add(name, method, "refused_percent", quality.refused_percent, "%");
}

struct Sizes {
  Index fits, timed;
  int repetitions;
};

void run_case(const FitCase& fit, const Learned& learned, double range, const Sizes& sizes,
              std::uint64_t seed, Results& results) {
  const std::string name = range == 1 ? fit.name : fmt::format("{}/range{:g}", fit.name, range);
  const FitSamples samples = peers::draw_fits(fit, sizes.fits, range, seed);
  const Matrix<double> errors = peers::standard_errors(fit, samples.truth);
  FitAnswers best;
  fit.reference.solve(
      samples.y, [&](Index i, VectorRef<double> x) { x = samples.truth.col(i); }, best);
  const auto count = static_cast<double>(sizes.fits);

  const auto judge = [&](const Matrix<double>& x, const std::vector<bool>& stands) {
    return judge_fits(x, stands, best.x, samples.truth, errors);
  };
  const Answers alone = learned.solve_batch(samples.y, solve_options(RefineWhen::kNever));
  add_quality(results, name, "sdm", judge(alone.x, accepted(alone)));
  const Answers guarded = learned.solve_batch(samples.y, solve_options(RefineWhen::kDoubtful));
  add_trust(results, name, "sdm", judge(guarded.x, accepted(guarded)));
  results.add(name, "sdm", "evaluations", static_cast<double>(alone.evaluations) / count, "a fit");
  const Answers refined = learned.solve_batch(samples.y, solve_options(RefineWhen::kAlways));
  add_quality(results, name, "sdm_refined", judge(refined.x, accepted(refined)));
  add_trust(results, name, "sdm_refined", judge(refined.x, accepted(refined)));
  results.add(name, "sdm_refined", "evaluations", static_cast<double>(refined.evaluations) / count,
              "a fit");

  std::vector<Method> methods;
  for (const auto& [method, when] : {std::pair{"sdm", RefineWhen::kNever},
                                     {"sdm_guarded", RefineWhen::kDoubtful},
                                     {"sdm_refined", RefineWhen::kAlways}})
    methods.push_back({method, [&learned, options = solve_options(when)](const Matrix<double>& y) {
                         learned.solve_batch(y, options);
                       }});
  for (const peers::FitPeer& peer : fit.peers) {
    FitAnswers answers;
    peer.solve(samples.y, fit.start_on(samples.y), answers);
    const FitQuality quality =
        judge(answers.x, {answers.converged.begin(), answers.converged.end()});
    add_quality(results, name, peer.name, quality);
    add_trust(results, name, peer.name, quality);
    results.add(name, peer.name, "evaluations", static_cast<double>(answers.evaluations) / count,
                "a fit");
    methods.push_back({peer.name, [&fit, &peer](const Matrix<double>& y) {
                         FitAnswers timed;
                         peer.solve(y, fit.start_on(y), timed);
                       }});
  }
  measure_times(methods, samples.y.leftCols(sizes.timed), sizes.repetitions);
  for (const Method& method : methods)
    results.add(name, method.name, "fits_per_second", 1 / finite_median(method.seconds), "1/s");
}

std::string fast(double rate) {
  return rate >= 1e6 ? fmt::format("{:.2f} M", rate / 1e6) : fmt::format("{:.0f} k", rate / 1e3);
}

Table table_of(const Results& results, const std::vector<std::string>& cases,
               const std::vector<std::string>& methods, const std::string& metric,
               const std::function<std::string(double)>& text) {
  Table table{{{metric}}};
  for (const std::string& method : methods) table.lines[0].push_back(method);
  for (const std::string& name : cases) {
    table.lines.push_back({name});
    for (const std::string& method : methods) {
      const Results::Row* row = results.find(name, method, metric);
      table.lines.back().push_back(row == nullptr ? "" : text(row->value));
    }
  }
  return table;
}

}  // namespace

Results run_fits(const ExperimentContext& context) {
  Results results("fits");
  const std::vector<FitCase> cases = peers::fit_cases();
  const std::vector<double> ranges = {1, 1.5, 2};
  const Sizes sizes = context.quick ? Sizes{512, 256, 1} : Sizes{16384, 2048, 7};

  results.settings["fits"] = sizes.fits;
  results.settings["timed"] = fmt::format(
      "{} fits, {} repetitions, methods in turn, median; processor time of one thread on one core, "
      "start included",
      sizes.timed, sizes.repetitions);
  results.settings["best_fit"] =
      peers::reference_fit_name() + " started at the truth: what LM's RMSE is taken from";
  results.settings["wrong"] = fmt::format(
      "a parameter more than {:g} standard errors from the truth; the standard error is the "
      "Cramer-Rao bound of that very sample at its truth",
      kWrong);
  results.settings["silent_wrong"] =
      "wrong, and trusted or refined (sdm: maps, doubtful answers refined; its speed and errors "
      "are "
      "those of maps alone); peers: wrong, and converged";
  results.settings["refine"] = "analytic derivatives, relative cost tolerance 1e-6, the peers' own";
  results.settings["ranges"] =
      "truths from a box 1, 1.5 and 2 times as wide in its own coordinates about its centre; maps "
      "learned for 1; Poisson means below zero are drawn again";
  results.settings["peers"] =
      peers::fit_peer_settings().empty() ? "none built in" : peers::fit_peer_settings();
  if (!peers::kHaveCeres)
    context.say("ceres: not found when this program was built, its columns are left out");
  if (!peers::kHaveCminpack)
    context.say("cminpack: not found when this program was built, its column is left out");

  const auto all = static_cast<double>(cases.size()) + 1;
  double done = 0;
  for (const FitCase& fit : cases) {
    context.report(done++ / all, fit.name);
    LearnOptions options = fit.learn_options();
    options.seed = context.seed;
    options.threads = context.threads;
    if (context.quick) options.samples = 4000, options.calibration = 2000;
    const Learned learned = learn(fit.h, fit.box, options);
    const LearnedModel::Record& record = learned.model().record;
    results.add(fit.name, "sdm", "train_seconds", record.seconds, "s");
    results.add(fit.name, "sdm", "train_evaluations", static_cast<double>(record.evaluations));
    for (const double range : ranges) run_case(fit, learned, range, sizes, context.seed, results);
    context.say(fmt::format("{}: {}", fit.name, learned.brief_report()));
  }

  context.report(done / all, "units");
  const auto decay = std::find_if(cases.begin(), cases.end(),
                                  [](const FitCase& fit) { return fit.name == "decay/1e-2"; });
  double worst_unit = 0;
  for (const UnitChange& change : unit_changes()) {
    LearnOptions options = decay->learn_options();
    options.seed = context.seed;
    options.threads = context.threads;
    options.samples = context.quick ? 2000 : 10000;
    options.calibration = 2000;
    const double percent =
        error_change_percent(*decay, change, options, solve_options(RefineWhen::kNever));
    results.add("units", "sdm", "error_change_percent", percent, "%", {{"change", change.name}});
    worst_unit = std::max(worst_unit, percent);
  }
  results.add("units", "sdm", "error_change_percent", worst_unit, "%");

  std::vector<std::string> names, all_names, methods = {"sdm", "sdm_refined"};
  for (const FitCase& fit : cases) {
    names.push_back(fit.name);
    for (const double range : ranges)
      all_names.push_back(range == 1 ? fit.name : fmt::format("{}/range{:g}", fit.name, range));
  }
  for (const peers::FitPeer& peer : cases.front().peers) methods.push_back(peer.name);
  std::vector<std::string> timed = methods;
  timed.insert(timed.begin() + 1, "sdm_guarded");

  BarChart speed{"fits per second on one core", "fits per second", names, {}, true};
  for (const std::string& method : timed) {
    Series series{method, {}, {}};
    for (const std::string& name : names)
      series.y.push_back(results.find(name, method, "fits_per_second")->value);
    speed.series.push_back(std::move(series));
  }
  const auto three = [](double value) {
    return value < 1e4 ? fmt::format("{:.3f}", value) : fmt::format("{:.1e}", value);
  };
  const auto percent = [](double value) { return fmt::format("{:.3f}", value); };
  const Table rates = table_of(results, all_names, timed, "fits_per_second", fast);
  const Table rmse = table_of(results, all_names, methods, "rmse_ratio", three);
  const Table median = table_of(results, all_names, methods, "median_ratio", three);
  const Table silent = table_of(results, all_names, methods, "silent_wrong_percent", percent);
  const Table refused = table_of(results, all_names, methods, "refused_percent", percent);
  const Table evaluations = table_of(results, all_names, methods, "evaluations",
                                     [](double value) { return fmt::format("{:.1f}", value); });
  for (const Table* table : {&rates, &rmse, &median, &silent, &refused})
    context.say(format_table(table->lines));
  context.say(fmt::format("units: the error changes by at most {:.2g} %", worst_unit));

  const std::string same =
      "Not in the paper: the same curve fitted again and again. All start from the same place and "
      "have the same analytic derivatives.";
  results.exhibits = {
      {"speed", "Fits per second", "",
       same + " sdm: learned maps and the gate alone. sdm_guarded: doubtful answers refined. "
              "sdm_refined: every answer refined. The time to learn is not part of it.",
       Figure{{speed}, 1}},
      {"rates", "The same as numbers, and outside the range that was learned", "",
       "Outside, most answers are doubtful, and refining them from several starts costs more than "
       "a "
       "fit from scratch.",
       rates},
      {"rmse", "RMSE over that of the best fit, mean over the parameters", "",
       "Below 1: the maps know the box and the best fit does not, most of all in gauss5, where the "
       "noise is wider than the box; with Poisson noise the maps also weigh counts as they should. "
       "Outside the range a few fits that run away rule the best fit's RMSE, and refused answers "
       "are "
       "counted too: look at the median.",
       rmse},
      {"median", "The same of the median error", "", "", median},
      {"silent", "Wrong without a word, in percent", "",
       "Wrong: more than five standard errors from the truth (Cramer and Rao). sdm and "
       "sdm_refined: "
       "and trusted or refined. Peers: and converged.",
       silent},
      {"refused", "Refused, in percent", "",
       "sdm: outside or failed. Peers: not converged. An answer outside the box is refused even "
       "where it is a good fit.",
       refused},
      {"evaluations", "Evaluations of h for a fit", "",
       "Training takes some hundred thousand more, once: rows train_evaluations and train_seconds.",
       evaluations}};

  const auto value = [&](const std::string& name, const std::string& method,
                         const std::string& metric) {
    const Results::Row* row = results.find(name, method, metric);
    return row == nullptr ? NAN : row->value;
  };
  const auto others = [&](const std::string& name) {
    std::string text;
    for (const peers::FitPeer& peer : cases.front().peers)
      text += fmt::format("{}{} {}/s", text.empty() ? "" : ", ", peer.name,
                          fast(value(name, peer.name, "fits_per_second")));
    return text.empty() ? std::string("-") : text;
  };
  for (const std::string name : {"gauss5", "gauss11", "t2"})
    results.claims.push_back(
        {fmt::format("Fitting {} by the million, one core", name), "not in the paper",
         fmt::format("{}/s at {:.2f} of LM's RMSE alone; {}/s at {:.2f} refined",
                     fast(value(name, "sdm", "fits_per_second")), value(name, "sdm", "rmse_ratio"),
                     fast(value(name, "sdm_refined", "fits_per_second")),
                     value(name, "sdm_refined", "rmse_ratio")),
         others(name)});
  std::map<std::string, double> worst;
  for (const std::string method : {"sdm", "tiny_solver"})
    for (const std::string& name : all_names) {
      const std::string range = name.find("/range") == std::string::npos
                                    ? std::string("1")
                                    : name.substr(name.find("/range") + 6);
      double& most = worst[method + range];
      most = std::max(most, value(name, method, "silent_wrong_percent"));
    }
  results.claims.push_back(
      {"Wrong without a word, worst case; range as learned, 1.5 and 2 times", "not in the paper",
       fmt::format("{:.2f} %, {:.2f} %, {:.2f} %", worst["sdm1"], worst["sdm1.5"], worst["sdm2"]),
       peers::kHaveCeres
           ? fmt::format("tiny_solver {:.2f} %, {:.2f} %, {:.2f} %", worst["tiny_solver1"],
                         worst["tiny_solver1.5"], worst["tiny_solver2"])
           : "-"});
  return results;
}

}  // namespace sdm::experiments
