// Included by every file with vector kernels, before the first header of Highway. Scalable vectors
// (SVE, RISC-V) cannot be members or array elements, which the kernels rely on; such machines run
// their fixed-size targets.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
// WebAssembly is one processor, so there is nothing to dispatch. Highway has no vectors of doubles
// for it: kernels with SDM_DOUBLE_KERNELS are written out as loops, which the compiler vectorises.
#ifdef __wasm__
#ifdef SDM_DOUBLE_KERNELS
#define HWY_COMPILE_ONLY_EMU128
#else
#define HWY_COMPILE_ONLY_STATIC
#endif
#endif
