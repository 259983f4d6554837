/* The same as a library, for ctypes. */
#include "bench/gaussian_peak.h"

int32_t gaussian_peak_of(void* user, int64_t count, const double* x, ptrdiff_t x_stride,
                         double* out, ptrdiff_t out_stride) {
  return gaussian_peak(user, count, x, x_stride, out, out_stride);
}
