#include "sdm/rigid/train/train_tracker.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/formatted.h"
#include "rigid/check.h"
#include "rigid/state.h"
#include "rigid/train/pictures.h"
#include "sdm/base/random.h"

namespace sdm::rigid {
namespace {

constexpr double kFlat = 0.5;  // mean gradient, grey levels a pixel, below which nothing is seen

// One norm for the whole template: a change of the light's strength drops out, and cells without
// texture, which hold nothing but noise, stay small.
image::DenseHogOptions hog_options(int cell) {
  return {.cell = cell,
          .radius = image::DenseHogOptions::kMaxRadius,
          .normalisation = image::Normalisation::l2,
          .epsilon = 1};
}

/// The states are warps in template coordinates; the identity is the truth of every sample.
class TemplateProblem {
 public:
  using Scalar = float;

  TemplateProblem(const TrackerModel& model, const Pictures& pictures, Index samples)
      : model_(model), pictures_(pictures), samples_(samples) {}

  Index samples() const { return samples_; }
  Index state_size() const { return kStateSize; }
  Index delta_size() const { return parameter_count(model_.motion); }
  Index feature_size(int stage) const { return canvas(stage).feature_size(); }
  bool template_known() const { return true; }

  void features(Index sample, int stage, ConstVectorRef<float> x, VectorRef<float> out) const {
    thread_local std::vector<float> pixels;
    const Canvas& seen = canvas(stage);
    pixels.resize(std::size_t(seen.width) * std::size_t(seen.height));
    rigid::features(pictures_.smoothed(sample), compose(pictures_.from_template(), to_warp(x)),
                    seen, pixels, {out.data(), static_cast<std::size_t>(out.size())});
    out -= model_.templates[canvas_index(stage)];
  }

  void difference(ConstVectorRef<float> x, ConstVectorRef<float> target,
                  VectorRef<float> out) const {
    out = rigid::difference(model_.motion, to_warp(x), to_warp(target)).cast<float>();
  }
  void step(int, ConstVectorRef<float> x, ConstVectorRef<float> delta, VectorRef<float> out) const {
    out = to_state(rigid::step(model_.motion, to_warp(x), delta.cast<double>()));
  }
  double error(Index, ConstVectorRef<float> delta) const {
    const Warp warp = warp_of(model_.motion, delta.cast<double>());
    return (model_.shape.corners(warp) - model_.shape.corners()).colwise().norm().mean();
  }

 private:
  std::size_t canvas_index(int stage) const {
    return static_cast<std::size_t>(model_.stage_canvas[static_cast<std::size_t>(stage)]);
  }
  const Canvas& canvas(int stage) const { return model_.canvases[canvas_index(stage)]; }

  const TrackerModel& model_;
  const Pictures& pictures_;
  Index samples_;
};

std::vector<Warp> search_places(const TrainTrackerOptions& options) {
  std::vector<Warp> places;
  if (options.search == 0) return places;
  for (int k = 0; k < 8; ++k) {
    Warp shifted = Warp::Identity();
    const double direction = k * std::numbers::pi / 4;
    shifted.topRightCorner<2, 1>() << options.search * std::cos(direction),
        options.search * std::sin(direction);
    places.push_back(shifted);
  }
  if (options.motion == Motion::translation) return places;
  const double change = options.search / (kTemplateSide / std::numbers::sqrt2);
  for (const double sign : {-1.0, 1.0}) {
    Warp turned = Warp::Identity(), sized = Warp::Identity();
    const double c = std::cos(change), s = sign * std::sin(change);
    turned.topLeftCorner<2, 2>() << c, -s, s, c;
    sized.topLeftCorner<2, 2>() *= std::exp(sign * change);
    places.push_back(turned);
    places.push_back(sized);
  }
  return places;
}

Matrix<float> draw_starts(const TrainTrackerOptions& options) {
  Random random(options.seed, "template starts");
  Matrix<float> starts(kStateSize, options.samples);
  for (Index i = 0; i < options.samples; ++i) {
    const double stretch =
        options.spread > 0 ? 2 * options.spread * double(i + 1) / double(options.samples) : 1;
    starts.col(i) = to_state(draw_warp(options, stretch, random));
  }
  return starts;
}

void check_region(image::ByteView frame, const Quad& region) {
  check_frame(frame);
  const double slack = 1e-6;
  const Eigen::Vector2d low = region.rowwise().minCoeff(), high = region.rowwise().maxCoeff();
  if (!(low.minCoeff() >= -0.5 - slack && high[0] <= frame.width - 0.5 + slack &&
        high[1] <= frame.height - 0.5 + slack))
    throw Error(formatted(
        "the region reaches from ({:g}, {:g}) to ({:g}, {:g}), outside the frame of {} x {} px",
        low[0] + 0.5, low[1] + 0.5, high[0] + 0.5, high[1] + 0.5, frame.width, frame.height));
}

void check_texture(const TrackerModel& model, const Pictures& pictures) {
  Canvas plain = model.canvases.back();
  plain.hog.normalisation = image::Normalisation::none;
  std::vector<float> pixels(std::size_t(plain.width) * std::size_t(plain.height));
  Vector<float> votes(plain.feature_size());
  features(pictures.smoothed(0), pictures.from_template(), plain, pixels,
           {votes.data(), static_cast<std::size_t>(votes.size())});
  const double gradient = double(votes.sum()) * image::kBins / double(votes.size());
  if (gradient < kFlat)
    throw Error(formatted(
        "the region is flat (its mean gradient is {:.2g} grey levels, expected at least {:g}): "
        "there is nothing to follow",
        gradient, kFlat));
}

}  // namespace

TrainTrackerOptions TrainTrackerOptions::paper() {
  TrainTrackerOptions options;
  options.samples = 300;
  options.spread = options.blur = options.noise = options.search = 0;
  options.coarse_stages = 0;
  options.polish_side = 0;
  options.score_trials = 0;
  options.scan = false;
  return options;
}

void TrainTrackerOptions::validate() const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error(message);
  };
  const auto size = [&](const char* name, double value, double least, double most) {
    require(value >= least && value <= most,
            formatted("{} is {:g}, expected {:g} to {:g}", name, value, least, most));
  };
  size("samples", double(samples), 10, 1e7);
  size("stages", stages, 1, 100);
  size("linear_deviation", linear_deviation, 0, 1);
  size("translation_deviation", translation_deviation, 0, 100);
  size("perspective_deviation", perspective_deviation, 0, 0.01);
  size("spread", spread, 0, 10);
  size("blur", blur, 0, 100);
  size("noise", noise, 0, 100);
  size("coarse_stages", coarse_stages, 0, stages - 1);
  size("cell", cell, 2, 32);
  size("coarse_side", coarse_side, 2 * cell, 400);
  size("fine_side", fine_side, 2 * cell, 400);
  size("search", search, 0, 100);
  if (polish_side > 0) size("polish_side", polish_side, 2 * cell, 400);
  size("score_trials", double(score_trials), 0, 1e6);
  require(score_trials == 0 || polish_side > 0, "a score needs the polish, polish_side is 0");
  require(!scan || score_trials > 0, "a scan needs a score, score_trials is 0");
  size("lost_above", lost_above, 0, 10);
  penalty.validate();
}

TrackerTraining train_tracker(image::ByteView frame, const Quad& region,
                              const TrainTrackerOptions& options) {
  options.validate();
  check_region(frame, region);
  TrackerModel model;
  model.motion = options.motion;
  model.shape = shape_of(region);
  model.start = warp_to(model.shape, region);
  model.lost_above = options.lost_above;
  model.provenance = options.provenance;
  model.search = search_places(options);
  if (options.coarse_stages > 0)
    model.canvases.push_back(
        make_canvas(model.shape, options.coarse_side, hog_options(options.cell)));
  model.canvases.push_back(make_canvas(model.shape, options.fine_side, hog_options(options.cell)));
  for (int k = 0; k < options.stages; ++k)
    model.stage_canvas.push_back(k < options.coarse_stages ? 0 : int(model.canvases.size()) - 1);

  const Pictures pictures(frame, model.shape, model.start, options);
  check_texture(model, pictures);
  // What the tracker itself sees there, to the last bit: so it stays where the template was.
  FrameWindow window(true);
  window.look(frame, model.shape, model.start);
  std::vector<float> pixels;
  for (const Canvas& canvas : model.canvases) {
    pixels.resize(std::size_t(canvas.width) * std::size_t(canvas.height));
    Vector<float> target(canvas.feature_size());
    features(window.view(), window.in_view(model.start), canvas, pixels,
             {target.data(), static_cast<std::size_t>(target.size())});
    model.templates.push_back(std::move(target));
  }

  if (options.polish_side > 0)
    model.pixels = make_pixel_template(
        window.view(), window.in_view(model.start),
        make_canvas(model.shape, options.polish_side, hog_options(options.cell)));

  TrainOptions training;
  training.stages = options.stages;
  training.penalty = options.penalty;
  training.seed = options.seed;
  training.threads = options.threads;
  TrainResult<float> result =
      train(TemplateProblem(model, pictures, options.samples), draw_starts(options),
            Matrix<float>(to_state(Warp::Identity())), training);
  model.cascade = std::move(result.cascade);
  if (options.score_trials > 0) {
    // To begin with: right where half of the template correlates by more than a half.
    model.score.weights = Vector<float>::Zero(kScoreFeatures);
    model.score.weights[2] = 10;
    model.score.bias = -5;
    TrackerModel trial = model;
    trial.search.clear();
    model.score = learn_score(Tracker(std::move(trial)), pictures, options);
    model.scan = options.scan;
  }
  const double uncertainty =
      model.pixels.known()
          ? Polisher(model.pixels, model.motion).uncertainty(kPlainNoise) * scale_of(model.start)
          : std::nan("");
  return {Tracker(std::move(model)), std::move(result.summary), uncertainty};
}

}  // namespace sdm::rigid
