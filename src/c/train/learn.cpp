#include "sdm/descent/train/learn.h"

#include "c/cascade.h"
#include "c/learned.h"
#include "c/train/progress.h"
#include "sdm/descent/train/train.h"

using sdm::c::guarded;
using sdm::c::options_of;
using sdm::c::problem_of;
using sdm::c::require;

namespace sdm::c {
namespace {

Box box_of(const sdm_problem& problem, const sdm_learn_options& o) {
  require(o.lower, "lower");
  require(o.upper, "upper");
  std::vector<Axis> axes;
  for (std::int32_t j = 0; j < problem.states; ++j)
    axes.push_back({o.lower[j],
                    o.upper[j],
                    o.log != nullptr && o.log[j] != 0 ? Axis::Scale::kLog : Axis::Scale::kLinear,
                    {}});
  return Box(std::move(axes));
}

Noise noise_of(const sdm_learn_options& o) {
  switch (o.noise) {
    case SDM_NOISE_NONE:
      return {};
    case SDM_NOISE_POISSON:
      return Noise::poisson();
    case SDM_NOISE_GAUSSIAN:
      require(o.sigma, "sigma");
      if (o.sigma_count < 1)
        throw Error(std::to_string(o.sigma_count) + " deviations of the noise, expected some");
      if (o.sigma_count == 1) return Noise::gaussian(o.sigma[0]);
      return Noise::gaussian(
          Vector<double>(Eigen::Map<const Vector<double>>(o.sigma, o.sigma_count)));
    default:
      throw Error("the noise is " + std::to_string(o.noise) +
                  ", expected SDM_NOISE_NONE, _GAUSSIAN or _POISSON");
  }
}

}  // namespace
}  // namespace sdm::c

void sdm_learn_options_init(sdm_learn_options* options) {
  const sdm::LearnOptions defaults;
  *options = {};
  options->size = sizeof(*options);
  options->samples = defaults.samples;
  options->calibration = defaults.calibration;
  options->evaluations = defaults.evaluations;
  options->seconds = defaults.seconds;
  options->max_stages = defaults.max_stages;
  options->max_order = defaults.max_order;
  options->max_bits = defaults.max_bits;
  options->max_components = static_cast<int32_t>(defaults.max_components);
  options->seed = defaults.seed;
  options->threads = defaults.threads;
}

sdm_status sdm_learn(const sdm_problem* problem, const sdm_learn_options* options,
                     sdm_learned** learned) {
  return guarded([&] {
    require(options, "options");
    require(learned, "learned");
    const sdm_problem p = problem_of(problem);
    const sdm_learn_options o = options_of(options, sdm_learn_options_init);
    const sdm::Box box = sdm::c::box_of(p, o);
    sdm::LearnOptions learning;
    learning.features = p.features;
    learning.noise = sdm::c::noise_of(o);
    learning.start = sdm::c::start_rule_of(p);
    if (o.x0 != nullptr) learning.x0 = Eigen::Map<const sdm::Vector<double>>(o.x0, p.states);
    learning.samples = o.samples;
    learning.calibration = o.calibration;
    learning.evaluations = o.evaluations;
    learning.seconds = o.seconds;
    learning.max_stages = o.max_stages;
    learning.max_order = o.max_order;
    learning.max_bits = o.max_bits;
    learning.max_components = o.max_components;
    learning.seed = o.seed;
    learning.threads = o.threads;
    learning.progress = sdm::c::Progress(o.progress, o.progress_user);
    *learned = new sdm_learned{
        sdm::detail::learn(sdm::c::function_of(p, sdm::c::difference_steps(box)), box, learning)};
  });
}

void sdm_train_options_init(sdm_train_options* options) {
  const sdm::TrainOptions defaults;
  *options = {};
  options->size = sizeof(*options);
  options->stages = defaults.stages;
  options->penalty = defaults.penalty.values.front();
  options->folds = defaults.folds;
  options->seed = defaults.seed;
  options->threads = defaults.threads;
}

sdm_status sdm_cascade_train(const sdm_problem* problem, int64_t count, const double* starts,
                             int32_t one_start, const double* targets, const double* measured,
                             const sdm_train_options* options, sdm_cascade** cascade) {
  return guarded([&] {
    require(starts, "starts");
    require(targets, "targets");
    require(cascade, "cascade");
    const sdm_problem p = problem_of(problem);
    const sdm_train_options o = options_of(options, sdm_train_options_init);
    if (count < 1) throw sdm::Error(std::to_string(count) + " examples, expected at least one");
    sdm::TrainOptions training;
    training.stages = o.stages;
    training.penalty.values = {o.penalty};
    training.folds = o.folds;
    training.keep_inverse_covariance = o.online != 0;
    training.seed = o.seed;
    training.threads = o.threads;
    sdm::TrainObserver observer;
    observer.progress = sdm::c::Progress(o.progress, o.progress_user).of_training();
    using Columns = Eigen::Map<const sdm::Matrix<double>>;
    sdm::Matrix<double> templates;
    if (measured != nullptr) templates = Columns(measured, p.features, count);
    auto trained =
        sdm::train(sdm::function_problem<double>(sdm::c::plain_function_of(p), p.states, p.features,
                                                 count, templates),
                   sdm::Matrix<double>(Columns(starts, p.states, one_start != 0 ? 1 : count)),
                   sdm::Matrix<double>(Columns(targets, p.states, count)), training, observer);
    *cascade = o.online != 0 ? new sdm_cascade{{}, sdm::online(std::move(trained))}
                             : new sdm_cascade{std::move(trained.cascade), {}};
  });
}
