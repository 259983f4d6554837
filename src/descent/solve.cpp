#include "sdm/descent/solve.h"

#include "base/formatted.h"

namespace sdm {

std::string SolveSummary::brief_report() const {
  return formatted("{} stages, residual {:.4g} -> {:.4g}, last step {:.3g}{}", stages,
                   initial_residual, final_residual, last_step,
                   !finite       ? ", stopped: a value was not finite"
                   : converged() ? ""
                                 : ", diverged");
}

namespace detail {

template <class Scalar>
void check_fits(const Cascade<Scalar>& cascade, Index state_size, Index x0_size,
                bool template_known) {
  if (cascade.stages() == 0) throw Error("the cascade has no stages, expected at least one");
  if (cascade.state_size != state_size)
    throw Error(formatted("the cascade was trained on states of {} values, the problem has {}",
                          cascade.state_size, state_size));
  if (x0_size != state_size)
    throw Error(formatted("the start has {} values, expected {}", x0_size, state_size));
  if (cascade.template_known != template_known)
    throw Error(template_known
                    ? "there is a template y, but the cascade was trained without one"
                    : "there is no template y, but the cascade was trained with one: y is what "
                      "h(x) is compared with");
}

template void check_fits(const Cascade<float>&, Index, Index, bool);
template void check_fits(const Cascade<double>&, Index, Index, bool);

}  // namespace detail
}  // namespace sdm
