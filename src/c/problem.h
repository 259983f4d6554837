#pragma once

#include "c/status.h"
#include "sdm/descent/batched.h"

namespace sdm::c {

/// Throws Error if there is no function, or no size where the caller must tell it.
sdm_problem problem_of(const sdm_problem* given, bool sizes_needed = true);

/// h as the library calls it: throws Cancelled where the caller's function gives up.
class BlockFunction {
 public:
  explicit BlockFunction(const sdm_problem& problem) : h_(problem.h), user_(problem.user) {}

  void operator()(const ConstBlockRef<double>& x, BlockRef<double> out) const {
    call(x.cols(), x.data(), x.outerStride(), out.data(), out.outerStride());
  }
  void call(Index count, const double* x, Index x_stride, double* out, Index out_stride) const {
    if (h_(user_, count, x, x_stride, out, out_stride) != 0) throw Cancelled();
  }

 private:
  sdm_function h_;
  void* user_;
};

/// The derivatives that the caller's problem has.
AnyFunction::Jacobian given_jacobian(const sdm_problem& problem);

/// h with derivatives: the caller's, or where a call of h costs much, central differences in one
/// call, with this step for each value of the state (relative to its size where that is larger).
AnyFunction function_of(const sdm_problem& problem, const Vector<double>& steps);

/// One state at a time.
inline auto plain_function_of(const sdm_problem& problem) {
  return [h = BlockFunction(problem)](const auto& x, auto&& out) {
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): x may be an expression
    const Vector<double> state = x;
    Vector<double> values(out.size());
    h.call(1, state.data(), 1, values.data(), 1);
    out = values;
  };
}

/// More states in a call than this, and a call is taken to cost much.
inline constexpr std::int32_t kUsualBlock = 64;

}  // namespace sdm::c
