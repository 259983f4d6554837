#include "experiments/fits/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sdm::experiments {

std::vector<UnitChange> unit_changes() {
  std::vector<UnitChange> changes;
  for (const double factor : {1e6, 1e-6}) {
    for (const Index feature : {Index{0}, Index{5}})
      changes.push_back({fmt::format("value {} x {:.0e}", feature, factor), feature, -1, factor});
    for (const Index state : {Index{0}, Index{1}})
      changes.push_back({fmt::format("parameter {} x {:.0e}", state, factor), -1, state, factor});
  }
  return changes;
}

peers::FitCase in_other_units(const peers::FitCase& fit, const UnitChange& change) {
  peers::FitCase other = fit;
  Vector<double> sigma = Vector<double>::Constant(fit.features, fit.noise.sigma()[0]);
  if (change.feature >= 0) sigma[change.feature] *= change.factor;
  other.noise = Noise::gaussian(sigma);
  if (change.state >= 0) {
    std::vector<Axis> axes = fit.box.axes();
    Axis& axis = axes[static_cast<std::size_t>(change.state)];
    axis.low *= change.factor;
    axis.high *= change.factor;
    other.box = Box(axes);
  }
  const auto own_units = [change](auto x) {
    if (change.state >= 0) x.row(change.state) /= change.factor;
    return x;
  };
  const Index scratch_size = fit.box.size() + fit.features;
  other.h = with_jacobian(
      batched([=, h = fit.h](const ConstBlockRef<double>& x, BlockRef<double> out) {
        Vector<double> scratch(scratch_size);
        h(own_units(Block<double>(x)), out, scratch);
        if (change.feature >= 0) out.row(change.feature) *= change.factor;
      }),
      [=, h = fit.h](const Eigen::Ref<const Vector<double>>& x, Eigen::Ref<Matrix<double>> out) {
        h.jacobian()(own_units(Vector<double>(x)), out);
        if (change.feature >= 0) out.row(change.feature) *= change.factor;
        if (change.state >= 0) out.col(change.state) /= change.factor;
      });
  return other;
}

double error_change_percent(const peers::FitCase& fit, const UnitChange& change,
                            const LearnOptions& options, const LearnedSolveOptions& solve_options) {
  constexpr Index count = 4096;
  const auto errors = [&](const UnitChange& units) {
    const peers::FitCase in_units = in_other_units(fit, units);
    LearnOptions own = options;
    own.noise = in_units.noise;
    const Learned learned = learn(in_units.h, in_units.box, own);
    const peers::FitSamples samples = peers::draw_fits(in_units, count, 1, options.seed + 1);
    const Answers answers = learned.solve_batch(samples.y, solve_options);
    Vector<double> squares = (answers.x - samples.truth).rowwise().squaredNorm();
    if (units.state >= 0) squares[units.state] /= units.factor * units.factor;
    return squares;
  };
  const Vector<double> before = errors({}), after = errors(change);
  return 100 * ((after.array() / before.array()).sqrt() - 1).abs().maxCoeff();
}

}  // namespace sdm::experiments
