#include "sdm/descent/solve.h"

#include "base/formatted.h"

namespace sdm {

std::string SolveSummary::brief_report() const {
  return formatted("{} stages, residual {:.4g} -> {:.4g}, last step {:.3g}{}", stages,
                   initial_residual, final_residual, last_step,
                   finite ? "" : ", stopped: a value was not finite");
}

namespace detail {

template <class Scalar>
void check_fits(const Cascade<Scalar>& cascade, Index state_size, Index x0_size) {
  if (cascade.stages() == 0) throw Error("the cascade has no stages, expected at least one");
  if (cascade.state_size != state_size)
    throw Error(formatted("the cascade was trained on states of {} values, the problem has {}",
                          cascade.state_size, state_size));
  if (x0_size != state_size)
    throw Error(formatted("the start has {} values, expected {}", x0_size, state_size));
}

template void check_fits(const Cascade<float>&, Index, Index);
template void check_fits(const Cascade<double>&, Index, Index);

}  // namespace detail
}  // namespace sdm
