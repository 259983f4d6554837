#include "experiments/nist/learned.h"

#include <algorithm>
#include <cmath>

namespace sdm::experiments {

Box parameter_box(const NistProblem& problem) {
  constexpr double margin = 0.1, log_factor = 5;
  std::vector<Axis> axes;
  for (Index j = 0; j < problem.parameters(); ++j) {
    const auto [low, high] =
        std::minmax({problem.certified[j], problem.starts[0][j], problem.starts[1][j]});
    const double ratio = high / low;
    if (low * high > 0 && std::max(ratio, 1 / ratio) > log_factor) {
      const double more = std::pow(std::abs(ratio), margin);
      axes.push_back({low / more, high * more, Axis::Scale::kLog});
    } else {
      const double more = margin * (high - low);
      axes.push_back({low - more, high + more});
    }
  }
  return Box(axes);
}

Noise expected_noise(const NistProblem& problem) {
  const Vector<double> off = problem.y.array() - problem.y.mean();
  return Noise::gaussian(0.1 * off.norm() / std::sqrt(static_cast<double>(off.size())));
}

Learned learn_nist(const NistProblem& problem, const Vector<double>& start, LearnOptions options) {
  options.features = problem.observations();
  options.noise = expected_noise(problem);
  options.x0 = start;
  const auto h = [&problem](const auto& beta, auto&& out) {
    problem.model.values(problem.x, beta.data(), out.data());
  };
  const auto jacobian = [&problem](const auto& beta, auto&& out) {
    problem.model.jacobian(problem.x, beta.data(), out.data());
  };
  return learn(with_jacobian(h, jacobian), parameter_box(problem), options);
}

LearnedSolveOptions maps_alone() {
  LearnedSolveOptions options;
  options.refine = RefineWhen::kNever;
  return options;
}

LearnedSolveOptions all_digits() {
  LearnedSolveOptions options;
  options.refine = RefineWhen::kAlways;
  options.refine_options.gradient_tolerance = options.refine_options.step_tolerance = 1e-13;
  options.refine_options.cost_tolerance = 0;
  return options;
}

}  // namespace sdm::experiments
