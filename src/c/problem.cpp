#include "c/problem.h"

#include <algorithm>
#include <cmath>

namespace sdm::c {
namespace {

constexpr double kDifferenceStep = 6e-6;  // as in RefineOptions

using RowMatrix = Block<double>;

AnyFunction::Jacobian differences(const sdm_problem& problem, const Vector<double>& steps) {
  return [h = BlockFunction(problem), block = Index{problem.block}, steps](
             const Eigen::Ref<const Vector<double>>& x, Eigen::Ref<Matrix<double>> out) {
    const Index n = x.size(), centre = 2 * n, count = 2 * n + 1;
    RowMatrix states(n, count), values(out.rows(), count);
    states.colwise() = Vector<double>(x);
    for (Index j = 0; j < n; ++j) {
      const double step = std::max(kDifferenceStep * std::abs(x[j]), steps[j]);
      states(j, 2 * j) += step;
      states(j, 2 * j + 1) -= step;
    }
    for (Index first = 0; first < count; first += block)
      h.call(std::min(block, count - first), states.data() + first, count, values.data() + first,
             count);
    for (Index j = 0; j < n; ++j) {
      // One-sided where h ends.
      const Index up = values.col(2 * j).allFinite() ? 2 * j : centre;
      const Index down = values.col(2 * j + 1).allFinite() ? 2 * j + 1 : centre;
      out.col(j) = (values.col(up) - values.col(down)) / (states(j, up) - states(j, down));
    }
  };
}

}  // namespace

AnyFunction::Jacobian given_jacobian(const sdm_problem& problem) {
  return [problem](const Eigen::Ref<const Vector<double>>& x, Eigen::Ref<Matrix<double>> out) {
    RowMatrix rows(out.rows(), out.cols());
    const Vector<double> state = x;
    if (problem.jacobian(problem.user, state.data(), rows.data()) != 0) throw Cancelled();
    out = rows;
  };
}

sdm_problem problem_of(const sdm_problem* given, bool sizes_needed) {
  require(given, "problem");
  const sdm_problem problem = options_of(given, sdm_problem_init);
  if (problem.h == nullptr) throw Error("the problem has no function h");
  const std::int32_t least = sizes_needed ? 1 : 0;
  if (problem.states < least || problem.features < least)
    throw Error("the problem has " + std::to_string(problem.states) + " states and " +
                std::to_string(problem.features) + " features, expected at least one of each");
  if (problem.block < kUsualBlock)
    throw Error("the problem has a block of " + std::to_string(problem.block) +
                " states, expected at least " + std::to_string(kUsualBlock));
  return problem;
}

AnyFunction function_of(const sdm_problem& problem, const Vector<double>& steps) {
  const auto h = batched(BlockFunction(problem));
  AnyFunction function = h;
  if (problem.jacobian != nullptr)
    function = with_jacobian(h, given_jacobian(problem));
  else if (problem.block > kUsualBlock)
    function = with_jacobian(h, differences(problem, steps));
  function.set_widest(problem.block);
  return function;
}

}  // namespace sdm::c

void sdm_problem_init(sdm_problem* problem) {
  *problem = {};
  problem->size = sizeof(*problem);
  problem->block = sdm::c::kUsualBlock;
}
