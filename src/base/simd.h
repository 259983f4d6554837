// Included by every file with vector kernels, before the first header of Highway. Scalable vectors
// (SVE, RISC-V) cannot be members or array elements, which the kernels rely on; such machines run
// their fixed-size targets.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
