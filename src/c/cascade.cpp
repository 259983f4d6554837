#include "c/cascade.h"

#include "c/model.h"
#include "c/problem.h"
#include "sdm/descent/certificate.h"
#include "sdm/descent/refine.h"
#include "sdm/descent/solve.h"

namespace sdm::c {
namespace {

Vector<double> vector_of(const double* values, Index size) {
  return Eigen::Map<const Vector<double>>(values, size);
}

// h(x) - y, or h(x) where y is NULL.
auto one_sample(const sdm_problem& p, const double* y) {
  Matrix<double> measured;
  if (y != nullptr) measured = vector_of(y, p.features);
  return function_problem<double>(plain_function_of(p), p.states, p.features, 1, measured);
}

void require_template(const Cascade<double>& cascade, const double* y) {
  if (cascade.template_known != (y != nullptr))
    throw Error(cascade.template_known ? "y is NULL, and the cascade was trained with one"
                                       : "a y is given, and the cascade was trained without one");
}

// Callers of sdm_cascade_map have room for states x features numbers of every stage.
void require_even(const Cascade<double>& cascade) {
  for (const auto& map : cascade.maps)
    if (map.delta_size() != cascade.state_size ||
        map.feature_size() != cascade.maps.front().feature_size())
      throw Error("the cascade's stages differ in size, and the C interface knows one size alone");
}

}  // namespace
}  // namespace sdm::c

using sdm::c::guarded;
using sdm::c::options_of;
using sdm::c::problem_of;
using sdm::c::require;
using sdm::c::vector_of;

sdm_status sdm_cascade_create(const sdm_model* model, sdm_cascade** cascade) {
  return guarded([&] {
    require(model, "the model");
    require(cascade, "cascade");
    std::unique_ptr<sdm_cascade> made;
    if (const auto* online =
            std::get_if<std::shared_ptr<const sdm::OnlineCascade<double>>>(&model->content))
      made.reset(new sdm_cascade{{}, **online});
    else
      made.reset(new sdm_cascade{
          *sdm::c::content_of<sdm::Cascade<double>>(model, "the model", "'cascade' or 'online'"),
          {}});
    sdm::c::require_even(made->cascade());
    *cascade = made.release();
  });
}

sdm_status sdm_cascade_model(const sdm_cascade* cascade, sdm_model** model) {
  return guarded([&] {
    require(cascade, "cascade");
    require(model, "model");
    *model = cascade->online ? sdm::c::make_model_of(*cascade->online)
                             : sdm::c::make_model_of(cascade->plain);
  });
}

void sdm_cascade_free(sdm_cascade* cascade) { delete cascade; }

sdm_status sdm_cascade_stages(const sdm_cascade* cascade, int32_t* stages) {
  return guarded([&] {
    require(cascade, "cascade");
    require(stages, "stages");
    *stages = cascade->cascade().stages();
  });
}

sdm_status sdm_cascade_map(const sdm_cascade* cascade, int32_t stage, double* r, double* b) {
  return guarded([&] {
    require(cascade, "cascade");
    const sdm::Cascade<double>& maps = cascade->cascade();
    if (stage < 0 || stage >= maps.stages())
      throw sdm::Error("stage " + std::to_string(stage) + " of " + std::to_string(maps.stages()));
    const auto& map = maps.maps[static_cast<std::size_t>(stage)];
    if (r != nullptr)
      Eigen::Map<sdm::Block<double>>(r, map.delta_size(), map.feature_size()) = map.matrix();
    if (b != nullptr) Eigen::Map<sdm::Vector<double>>(b, map.delta_size()) = map.bias();
  });
}

sdm_status sdm_cascade_solve(const sdm_cascade* cascade, const sdm_problem* problem,
                             const double* y, double* x, double* residual) {
  return guarded([&] {
    require(cascade, "cascade");
    require(x, "x");
    const sdm_problem p = problem_of(problem);
    const auto sample = sdm::c::one_sample(p, y);
    sdm::c::require_template(cascade->cascade(), y);
    sdm::check_fits(cascade->cascade(), sample, p.states);
    sdm::Solver<double> solver(cascade->cascade());
    sdm::Vector<double> state = vector_of(x, p.states);
    const sdm::SolveSummary summary = solver.solve(sample, 0, state, residual != nullptr);
    if (!summary.finite)
      throw sdm::Error("stage " + std::to_string(summary.stages) + ": a value is not finite");
    Eigen::Map<sdm::Vector<double>>(x, p.states) = state;
    if (residual != nullptr) *residual = summary.final_residual;
  });
}

sdm_status sdm_cascade_update(sdm_cascade* cascade, const sdm_problem* problem, const double* y,
                              const double* x0, const double* target, double weight,
                              double forgetting) {
  return guarded([&] {
    require(cascade, "cascade");
    require(x0, "x0");
    require(target, "target");
    const sdm_problem p = problem_of(problem);
    if (!cascade->online)
      throw sdm::Error(
          "the cascade does not remember its samples: train it with `online`, or load a model of "
          "kind 'online'");
    sdm::c::require_template(cascade->cascade(), y);
    cascade->online->update(sdm::c::one_sample(p, y), 0, vector_of(x0, p.states),
                            vector_of(target, p.states), {weight, forgetting});
  });
}

void sdm_refine_options_init(sdm_refine_options* options) {
  const sdm::RefineOptions defaults;
  *options = {};
  options->size = sizeof(*options);
  options->max_evaluations = defaults.max_evaluations;
  options->residual_tolerance = defaults.residual_tolerance;
  options->gradient_tolerance = defaults.gradient_tolerance;
  options->step_tolerance = defaults.step_tolerance;
  options->cost_tolerance = defaults.cost_tolerance;
  options->loss_scale = defaults.loss_scale;
}

sdm_status sdm_refine(const sdm_problem* problem, const double* y, double* x,
                      const sdm_refine_options* options, double* covariance,
                      sdm_refine_summary* summary) {
  return guarded([&] {
    require(x, "x");
    const sdm_problem p = problem_of(problem);
    const sdm_refine_options o = options_of(options, sdm_refine_options_init);
    if (o.loss < SDM_LOSS_NONE || o.loss > SDM_LOSS_TUKEY)
      throw sdm::Error("the loss is " + std::to_string(o.loss) +
                       ", expected SDM_LOSS_NONE ... _TUKEY");
    sdm::RefineOptions refining;
    refining.max_evaluations = o.max_evaluations;
    refining.residual_tolerance = o.residual_tolerance;
    refining.gradient_tolerance = o.gradient_tolerance;
    refining.step_tolerance = o.step_tolerance;
    refining.cost_tolerance = o.cost_tolerance;
    if (o.lower != nullptr) refining.lower = vector_of(o.lower, p.states);
    if (o.upper != nullptr) refining.upper = vector_of(o.upper, p.states);
    refining.loss = static_cast<sdm::RobustLoss>(o.loss);
    refining.loss_scale = o.loss_scale;
    refining.covariance = covariance != nullptr;
    const sdm::Vector<double> measured =
        y == nullptr ? sdm::Vector<double>::Zero(p.features) : vector_of(y, p.features);
    const sdm::Vector<double> start = vector_of(x, p.states);
    const auto residual = [&, h = sdm::c::plain_function_of(p)](const auto& at, auto&& out) {
      h(at, out);
      out -= measured;
    };
    const auto jacobian = [&, given = sdm::c::given_jacobian(p)](const auto& at, auto&& out) {
      // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): it may be an expression
      const sdm::Vector<double> state = at;
      sdm::Matrix<double> values(p.features, p.states);
      given(state, values);
      out = values;
    };
    const sdm::RefineResult result =
        p.jacobian != nullptr
            ? sdm::refine(sdm::RefineProblem{p.features, residual, jacobian}, start, refining)
            : sdm::refine(sdm::RefineProblem{p.features, residual}, start, refining);
    Eigen::Map<sdm::Vector<double>>(x, p.states) = result.x;
    if (covariance != nullptr)
      Eigen::Map<sdm::Matrix<double>>(covariance, p.states, p.states) = result.covariance;
    if (summary != nullptr) {
      const sdm::RefineSummary& s = result.summary;
      *summary = {static_cast<int32_t>(s.stop), s.iterations, s.evaluations, s.initial_cost,
                  s.final_cost};
    }
  });
}

sdm_status sdm_certify(const sdm_problem* problem, const double* r, const double* x_star,
                       int64_t count, const double* samples, sdm_certificate* certificate) {
  return guarded([&] {
    require(r, "r");
    require(x_star, "x_star");
    require(samples, "samples");
    require(certificate, "certificate");
    const sdm_problem p = problem_of(problem);
    if (count < 1) throw sdm::Error(std::to_string(count) + " samples, expected at least one");
    const sdm::Matrix<double> map = Eigen::Map<const sdm::Block<double>>(r, p.states, p.features);
    const sdm::Certificate found =
        sdm::certify(map, sdm::c::plain_function_of(p), vector_of(x_star, p.states),
                     Eigen::Map<const sdm::Matrix<double>>(samples, p.states, count));
    *certificate = {found.samples,       found.worst_sample, found.lipschitz,
                    found.min_cosine,    found.bound,        found.map_norm,
                    found.spectral_norm, found.contraction,  found.mean_contraction,
                    found.monotone,      found.guaranteed};
  });
}

sdm_status sdm_conformal_quantile(int64_t count, const double* scores, double confidence,
                                  double* quantile) {
  return guarded([&] {
    require(scores, "scores");
    require(quantile, "quantile");
    if (count < 0) throw sdm::Error(std::to_string(count) + " scores, expected 0 or more");
    *quantile = sdm::conformal_quantile({scores, scores + count}, confidence);
  });
}
