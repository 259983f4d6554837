#include "c/learned.h"

#include <cmath>

#include "c/model.h"
#include "sdm/base/thread_pool.h"

namespace sdm::c {

Vector<double> difference_steps(const Box& box) {
  Vector<double> steps(box.size());
  for (Index j = 0; j < box.size(); ++j) {
    const Axis& axis = box.axes()[static_cast<std::size_t>(j)];
    // Of a value that spans decades the least one counts.
    const double size = axis.scale == Axis::Scale::kLog
                            ? std::min(std::abs(axis.low), std::abs(axis.high))
                            : 0.5 * (axis.high - axis.low);
    steps[j] = 6e-6 * size;
  }
  return steps;
}

StartRule start_rule_of(const sdm_problem& problem) {
  if (problem.start == nullptr) return {};
  return [problem](ConstVectorRef<double> y, VectorRef<double> x) {
    if (problem.start(problem.user, y.data(), x.data()) != 0) throw Cancelled();
  };
}

}  // namespace sdm::c

using sdm::c::guarded;
using sdm::c::options_of;
using sdm::c::require;

sdm_status sdm_learned_create(const sdm_model* model, const sdm_problem* problem,
                              sdm_learned** learned) {
  return guarded([&] {
    const auto content = sdm::c::content_of<sdm::LearnedModel>(model, "the model", "'learned'");
    const sdm_problem p = sdm::c::problem_of(problem, false);
    require(learned, "learned");
    const auto differ = [](std::int32_t given, sdm::Index expected) {
      return given != 0 && given != expected;
    };
    if (differ(p.states, content->states()) || differ(p.features, content->features))
      throw sdm::Error("h has " + std::to_string(p.states) + " states and " +
                       std::to_string(p.features) + " features, the model " +
                       std::to_string(content->states()) + " and " +
                       std::to_string(content->features));
    *learned = new sdm_learned{
        sdm::Learned(*content, sdm::c::function_of(p, sdm::c::difference_steps(content->box)),
                     sdm::c::start_rule_of(p))};
  });
}

sdm_status sdm_learned_model(const sdm_learned* learned, sdm_model** model) {
  return guarded([&] {
    require(learned, "learned");
    require(model, "model");
    *model = sdm::c::make_model_of<sdm::LearnedModel>(learned->learned.model());
  });
}

void sdm_learned_free(sdm_learned* learned) { delete learned; }

sdm_status sdm_learned_size(const sdm_learned* learned, int32_t* states, int32_t* features) {
  return guarded([&] {
    require(learned, "learned");
    if (states != nullptr) *states = static_cast<int32_t>(learned->learned.model().states());
    if (features != nullptr) *features = static_cast<int32_t>(learned->learned.model().features);
  });
}

sdm_status sdm_learned_report(const sdm_learned* learned, int32_t full, char** text) {
  return guarded([&] {
    require(learned, "learned");
    require(text, "text");
    *text = sdm::c::copy_text(full != 0 ? learned->learned.full_report()
                                        : learned->learned.brief_report());
  });
}

void sdm_solve_options_init(sdm_solve_options* options) {
  const sdm::LearnedSolveOptions defaults;
  *options = {};
  options->size = sizeof(*options);
  options->confidence = defaults.confidence;
  options->refine = static_cast<int32_t>(defaults.refine);
  options->further_starts = defaults.further_starts;
  options->threads = 1;
}

sdm_status sdm_learned_solve(const sdm_learned* learned, int64_t count, const double* y,
                             ptrdiff_t stride, const sdm_solve_options* options,
                             const sdm_answers* answers) {
  return guarded([&] {
    require(learned, "learned");
    require(answers, "answers");
    const sdm_solve_options o = options_of(options, sdm_solve_options_init);
    if (count < 0) throw sdm::Error(std::to_string(count) + " measurements, expected 0 or more");
    if (o.refine < SDM_REFINE_NEVER || o.refine > SDM_REFINE_ALWAYS)
      throw sdm::Error("refine is " + std::to_string(o.refine) +
                       ", expected SDM_REFINE_NEVER, _DOUBTFUL or _ALWAYS");
    if (count == 0) return;
    require(y, "y");
    require(answers->x, "answers.x");
    const sdm::Index features = learned->learned.model().features;
    if (stride == 0) stride = features;
    if (stride < features)
      throw sdm::Error("measurements of " + std::to_string(features) + " numbers lie " +
                       std::to_string(stride) + " apart");
    sdm::LearnedSolveOptions solving;
    solving.confidence = o.confidence;
    solving.refine = static_cast<sdm::RefineWhen>(o.refine);
    solving.further_starts = o.further_starts;
    static_assert(sizeof(sdm::Trust) == sizeof(uint8_t));
    const sdm::AnswerArrays out{answers->x, answers->radius,
                                reinterpret_cast<sdm::Trust*>(answers->status), answers->residual,
                                answers->relative_residual};
    const Eigen::Map<const sdm::Matrix<double>, 0, Eigen::OuterStride<>> measured(
        y, features, count, Eigen::OuterStride<>(stride));
    // A thread costs more to start than a few answers.
    constexpr int64_t kWorthAThread = 512;
    if (o.threads == 1 || count < 2 * kWorthAThread) {
      learned->learned.solve_batch(measured, out, solving);
    } else {
      sdm::ThreadPool pool(o.threads);
      learned->learned.solve_batch(measured, pool, out, solving);
    }
  });
}
