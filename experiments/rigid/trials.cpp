#include "experiments/rigid/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "report/statistics.h"
#include "sdm/base/random.h"
#include "sdm/rigid/train/train_tracker.h"

namespace sdm::experiments {
namespace {

using rigid::Warp;

constexpr int kShares = 6;           // 0, 10, ..., 50 % covered
constexpr double kRightCorners = 3;  // px, mean of the corners

struct TrialSums {
  std::vector<double> errors;
  double near = 0, lost = 0;
};

image::Image<std::uint8_t> keep(image::ByteView view) {
  image::Image<std::uint8_t> image(view.width, view.height);
  for (int y = 0; y < view.height; ++y) std::copy_n(view.row(y), view.width, image.view().row(y));
  return image;
}

/// Blurred, noisy or in another light, in turn.
Conditions drawn_conditions(int trial, Random& random) {
  Conditions c;
  if (trial % 4 == 1) c.noise = 10;
  if (trial % 4 == 2) {
    c.blur = random.uniform(2, 9);
    c.blur_angle = random.uniform(0, std::numbers::pi);
  }
  if (trial % 4 == 3) {
    c.gain = random.uniform(0.5, 1.2);
    c.offset = random.uniform(-20, 20);
  }
  return c;
}

/// Covers a share of the template from one of its sides, with an even grey or another texture.
void cover(image::Image<std::uint8_t>& frame, image::ByteView other, const Warp& truth,
           double share, Random& random) {
  const std::size_t side = random.below(4);
  const bool even = random.below(2) == 0;
  const Warp back = rigid::inverse(truth);
  constexpr double kHalf = Scene::kTemplate / 2.0;
  for (int y = 0; y < frame.height(); ++y)
    for (int x = 0; x < frame.width(); ++x) {
      const Eigen::Vector2d at = rigid::apply(back, {double(x), double(y)});
      if (at.cwiseAbs().maxCoeff() > kHalf) continue;
      const double along = (side & 1 ? at.x() : at.y()) * (side & 2 ? -1 : 1);
      if (along < -kHalf + Scene::kTemplate * share) frame(x, y) = even ? 100 : other(x, y);
    }
}

double area_under_curve(const std::vector<double>& right, const std::vector<double>& wrong) {
  double sum = 0;
  for (const double r : right)
    for (const double w : wrong) sum += r > w ? 1 : r == w ? 0.5 : 0;
  return sum / (double(right.size()) * double(wrong.size()));
}

}  // namespace

void run_trials(const ExperimentContext& context, const std::vector<Texture>& textures,
                Results& results, const std::function<void(double)>& share) {
  const int trials = context.quick ? 2 : 20;  // for each texture and share
  const Warp still = Warp::Identity();
  std::vector<TrialSums> sums(kShares);
  std::vector<double> right, wrong, elsewhere_scores;
  for (std::size_t t = 0; t < textures.size(); ++t) {
    share(double(t) / double(textures.size()));
    Scene scene(textures[t], context.seed),
        elsewhere(textures[(t + 1) % textures.size()], context.seed);
    rigid::TrainTrackerOptions options;
    options.seed = context.seed;
    options.threads = context.threads;
    Conditions plain;
    plain.noise = 0;
    const image::Image<std::uint8_t> first = keep(scene.render(still, still, plain, 0));
    const image::Image<std::uint8_t> other = keep(elsewhere.render(still, still, plain, 0));
    rigid::Tracker tracker = rigid::train_tracker(first, scene.region(), options).tracker;
    const rigid::TemplateShape& shape = tracker.model().shape;
    for (int k = 0; k < trials * kShares; ++k) {
      Random random(context.seed, "cover trials", t * 100000 + std::uint64_t(k));
      const double part = 0.1 * (k % kShares), sigma = random.uniform(0.25, 2.5);
      rigid::Parameters p(6);
      for (int i = 0; i < 6; ++i) p[i] = sigma * (i < 4 ? 0.01 : 1) * random.normal();
      const Warp motion = rigid::warp_of(rigid::Motion::affine, p);
      const Conditions conditions = drawn_conditions(k / kShares, random);
      auto frame = keep(scene.render(motion, motion, conditions, std::uint64_t(k)));
      const Warp truth = scene.truth(motion);
      if (part > 0) cover(frame, other, truth, part, random);
      const rigid::Track track = tracker.align(frame, scene.truth(still));
      const double error = track.warp.allFinite()
                               ? (track.corners - shape.corners(truth)).colwise().norm().mean()
                               : double(Scene::kWidth);
      TrialSums& here = sums[std::size_t(k % kShares)];
      here.errors.push_back(error);
      here.near += error < 1 ? 1 : 0;
      here.lost += track.lost ? 1 : 0;
      (error < kRightCorners ? right : wrong).push_back(track.score);
      if (k % 2 == 0 && textures.size() > 1)
        elsewhere_scores.push_back(
            tracker
                .align(elsewhere.render(motion, motion, conditions, std::uint64_t(k)),
                       scene.truth(still))
                .score);
    }
  }

  Table table{{{"covered"}, {"median corner error, px"}, {"below 1 px, %"}, {"told lost, %"}}};
  for (int s = 0; s < kShares; ++s) {
    const TrialSums& here = sums[std::size_t(s)];
    const double count = double(here.errors.size()), median = finite_median(here.errors);
    const std::string name = fmt::format("covered_{}", 10 * s);
    results.add(name, "sdm", "median_corner_error", median, "px");
    results.add(name, "sdm", "below_1px_fraction", here.near / count, "");
    results.add(name, "sdm", "lost_fraction", here.lost / count, "");
    table.lines[0].push_back(fmt::format("{} %", 10 * s));
    table.lines[1].push_back(fmt::format("{:.2f}", median));
    table.lines[2].push_back(fmt::format("{:.0f}", 100 * here.near / count));
    table.lines[3].push_back(fmt::format("{:.0f}", 100 * here.lost / count));
  }
  const auto told = [](const std::vector<double>& scores, bool lost) {
    const auto number = std::count_if(scores.begin(), scores.end(),
                                      [&](double score) { return (score < 0.5) == lost; });
    return double(number) / double(scores.size());
  };
  std::string about;
  if (!right.empty() && !wrong.empty()) {
    const double missed_cover = told(wrong, false), missed_other = told(elsewhere_scores, false);
    wrong.insert(wrong.end(), elsewhere_scores.begin(), elsewhere_scores.end());
    const double area = area_under_curve(right, wrong);
    const double false_alarms = told(right, true), misses = told(wrong, false);
    results.add("score", "sdm", "area_under_curve", area, "");
    results.add("score", "sdm", "right_told_lost_fraction", false_alarms, "");
    results.add("score", "sdm", "wrong_told_right_fraction", misses, "");
    results.add("score", "sdm", "another_photograph_told_right_fraction", missed_other, "");
    about = fmt::format(
        "Score over {} right (below {:g} px) and {} wrong places: area under the curve {:.3f}; "
        "{:.1f} % of the right ones are told lost, {:.1f} % of the wrong ones right ({:.1f} % of "
        "those "
        "where another photograph stands alone, {:.1f} % of those that strayed on their own).",
        right.size(), kRightCorners, wrong.size(), area, 100 * false_alarms, 100 * misses,
        100 * missed_other, 100 * missed_cover);
  }
  context.say(format_table(table.lines));
  context.say(about);
  results.exhibits.push_back(
      {"covered", "Rigid tracking: a part covered, and the score", "",
       "Single frames moved by a few pixels, clean, noisy, blurred or in another light, covered "
       "from a side by an even grey or the next photograph; for the score also frames that show "
       "the next photograph alone. " +
           about,
       table});
}

}  // namespace sdm::experiments
