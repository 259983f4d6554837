/* A Gaussian peak on 5 x 5 pixels, of many states at once: amplitude, x, y, width, offset. For C
 * and C++: what the benchmark of the Python package fits on both sides. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline int32_t gaussian_peak(void* user, int64_t count, const double* x, ptrdiff_t x_stride,
                                    double* out, ptrdiff_t out_stride) {
  (void)user;
  for (int64_t i = 0; i < count; ++i) {
    const double amplitude = x[i], cx = x[x_stride + i], cy = x[2 * x_stride + i];
    const double width = x[3 * x_stride + i], offset = x[4 * x_stride + i];
    const double scale = -0.5 / (width * width);
    double across[5], down[5];
    for (int k = 0; k < 5; ++k) {
      across[k] = exp(scale * (k - cx) * (k - cx));
      down[k] = amplitude * exp(scale * (k - cy) * (k - cy));
    }
    for (int r = 0; r < 5; ++r)
      for (int c = 0; c < 5; ++c) out[(5 * r + c) * out_stride + i] = down[r] * across[c] + offset;
  }
  return 0;
}
