#include "sdm/face/train/choose_options.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/formatted.h"
#include "face/train/known_faces.h"
#include "sdm/base/random.h"

namespace sdm::face {
namespace {

// What is varied. Patches shrink from stage to stage, from `first` to `last` of a unit.
struct Settings {
  float unit = 70;
  int cells = 4;
  float first = 0.157F, last = 0.057F;  // side of a cell
  double penalty = 0.4;
  float shape_weight = 12;
  Index rank = 60;
  int starts = 6;
  float roll = 0;
  double robust = 0.04;
};

constexpr int kStages = 6;

TrainerOptions options_of(const Settings& settings, const TrainerOptions& given) {
  TrainerOptions options = given;
  options.recipe = Recipe();
  options.checkpoint.clear();  // of the training that follows
  options.recipe.unit = settings.unit;
  options.recipe.canvas = 2.4F;
  options.recipe.shape_weight = settings.shape_weight;
  for (int i = 0; i < kStages; ++i) {
    const float share = static_cast<float>(i) / (kStages - 1);
    const float cell =
        settings.unit * settings.first * std::pow(settings.last / settings.first, share);
    options.recipe.stages.push_back({settings.cells, std::max(2.0F, cell), i <= 2});
  }
  options.penalties = {settings.penalty};
  options.held_out_penalty = false;
  options.rank = settings.rank;
  options.starts = settings.starts;
  options.box_starts = 4;
  options.start_roll = settings.roll;
  options.robust = settings.robust;
  options.cross_fit = true;
  options.fewest_stages = true;
  return options;
}

std::string text_of(const Settings& s) {
  return formatted(
      "{:g} px a unit, {} x {} cells of {:.3g} to {:.3g} units, penalty {:g}, shape weight {:g}, "
      "rank {}, {} starts turned by {:.1f} degrees, robust from {:g}",
      s.unit, s.cells, s.cells, s.first, s.last, s.penalty, s.shape_weight,
      s.rank > 0 ? std::to_string(s.rank) : "whole", s.starts, s.roll * 57.2958F, s.robust);
}

// Seconds of one core, as measured once; on another machine it is another unit of work.
double cost_of(const Settings& s, const std::vector<Shape>& truths) {
  const double samples = static_cast<double>(truths.size()) * s.starts;
  const double points = static_cast<double>(truths.front().cols());
  const double pixels = 2.4 * 2.4 * static_cast<double>(s.unit) * static_cast<double>(s.unit);
  const double features = points * (8.0 * s.cells * s.cells + 2);
  const double draw = 9e-9 * pixels, describe = 4e-9 * features * 8;
  // The smaller of the two sides of the equations is solved.
  const double side = std::min(samples, features);
  const double solve = 2e-10 * side * side * side + 1.5e-10 * samples * features * side;
  return kStages * (samples * (draw + describe) + solve);
}

// How the objects lie in their pictures.
struct Layout {
  float unit = 0;  // pixels, the median: nothing finer can be seen
  float roll = 0;  // deviation, in radians
};

Layout layout_of(const std::vector<Shape>& truths, const TrainerOptions& given) {
  const Shape mean = mean_shape(truths, given.mirror, given.unit);
  std::vector<float> sizes;
  double squares = 0;
  for (const Shape& truth : truths) {
    const Similarity at = fit_similarity(mean, truth);
    sizes.push_back(at.scale());
    squares += std::pow(std::atan2(static_cast<double>(at.b), static_cast<double>(at.a)), 2);
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return {*middle, static_cast<float>(std::sqrt(squares / static_cast<double>(sizes.size())))};
}

// Of the faces of all ranks; these are what this one has of them.
std::vector<TrainingFace> some_of(const std::vector<TrainingFace>& faces, int most,
                                  std::uint64_t seed, const detail::Ranks::Share& share) {
  std::vector<std::size_t> order(static_cast<std::size_t>(share.all));
  std::iota(order.begin(), order.end(), std::size_t(0));
  Random random(seed, "faces to choose by");
  shuffle(order, random);
  order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
  std::sort(order.begin(), order.end());
  std::vector<TrainingFace> some;
  const auto first = static_cast<std::size_t>(share.first);
  for (const std::size_t i : order)
    if (i >= first && i < first + faces.size()) some.push_back(faces[i - first]);
  return some;
}

// Walks from one setting to the next better one.
class Search {
 public:
  Search(const std::vector<TrainingFace>& faces, const std::vector<Shape>& truths,
         const TrainerOptions& given, const ChoiceOptions& options)
      : faces_(faces), truths_(truths), given_(given), options_(options) {}

  /// False: it is not better, or the budget does not allow it.
  bool attempt(const Settings& settings, const std::string& what) {
    const double cost = cost_of(settings, truths_);
    if (!choice.tried.empty() && spent_ + cost > options_.seconds) return false;
    spent_ += cost;
    TriedOptions tried{what, 0, 0, false};
    const std::vector<double> errors = held_out_errors(faces_, options_of(settings, given_));
    const auto least = std::min_element(errors.begin(), errors.end());
    tried.error = *least;
    tried.stages = static_cast<int>(least - errors.begin()) + 1;
    // Less than this is chance.
    constexpr double kGain = 0.997;
    tried.better = choice.tried.empty() || tried.error < kGain * choice.error;
    if (tried.better) {
      best = settings;
      choice.error = tried.error;
    }
    choice.tried.push_back(tried);
    if (options_.tried) options_.tried(tried);
    if (options_.progress) options_.progress(std::min(1.0, spent_ / options_.seconds));
    return tried.better;
  }

  /// Tries larger values of one setting, each so many times the one before, as long as that pays;
  /// if the first does not, smaller ones.
  template <class Value>
  void vary(Value Settings::*member, double factor, double least, double most, const char* name) {
    bool any = false;
    for (const double way : {factor, 1 / factor}) {
      for (;;) {
        Settings next = best;
        const double value = way * static_cast<double>(best.*member);
        if (value < least || value > most) break;
        next.*member = static_cast<Value>(value);
        if (!attempt(next, formatted("{} {:.3g}", name, value))) break;
        any = true;
      }
      if (any) return;
    }
  }

  template <class Value>
  void change(Value Settings::*member, Value value, const std::string& what) {
    Settings next = best;
    next.*member = value;
    if (next.*member != best.*member) attempt(next, what);
  }

  Settings best;
  Choice choice;

 private:
  const std::vector<TrainingFace>& faces_;
  const std::vector<Shape>& truths_;  // of all ranks
  const TrainerOptions& given_;
  const ChoiceOptions& options_;
  double spent_ = 0;
};

}  // namespace

Choice choose_options(const std::vector<TrainingFace>& all, const TrainerOptions& given,
                      const ChoiceOptions& options) {
  detail::Ranks ranks(given.communicator);
  const std::vector<TrainingFace> faces =
      some_of(all, options.faces, given.seed, ranks.share_of(static_cast<Index>(all.size())));
  const std::vector<Shape> truths = KnownFaces::of(faces, points_of(all, ranks), 0, ranks).truths;
  const Layout layout = layout_of(truths, given);
  Search search(faces, truths, given, options);
  Settings first;
  const double finest =
      std::clamp(1.3 * static_cast<double>(layout.unit), 8.0, static_cast<double>(kFinestUnit));
  first.unit = std::min(first.unit, static_cast<float>(finest));
  search.attempt(first, formatted("canvas, pixels a unit {:.3g}", first.unit));
  for (int round = 0; round < 2; ++round) {
    search.vary(&Settings::unit, 1.4, 20, finest, "canvas, pixels a unit");
    search.vary(&Settings::last, 0.7, 0.015, 0.3, "smallest cell, units");
    search.vary(&Settings::first, 1.4, 0.04, 0.6, "largest cell, units");
    search.vary(&Settings::penalty, 2, 0.01, 30, "penalty");
    search.vary(&Settings::shape_weight, 2, 1, 200, "weight of the shape");
    if (round > 0) break;
    search.change(&Settings::cells, 3, "3 x 3 cells");
    search.change(&Settings::cells, 5, "5 x 5 cells");
    search.change(&Settings::rank, Index(0), "maps of whole rank");
    search.change(&Settings::robust, 0.0, "all samples the same weight");
    if (layout.roll > 0.01F)
      search.change(&Settings::roll, layout.roll,
                    formatted("starts turned by {:.1f} degrees", layout.roll * 57.2958F));
    search.change(&Settings::starts, 12, "12 starts of each");
  }
  search.choice.options = options_of(search.best, given);
  search.choice.options.checkpoint = given.checkpoint;
  search.choice.text = text_of(search.best);
  return search.choice;
}

}  // namespace sdm::face
