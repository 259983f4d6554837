#pragma once

#include <cstdint>

#include "sdm/image/image_view.h"

namespace sdm::image {

/// What cameras do to pictures, for training data. Both run once per training sample, not per
/// frame, so they are plain code and motion_blur allocates its own workspace.

/// dst = mean of src along a segment of `length` px, centred on the pixel, at `angle` radians from
/// the x axis towards y, sampled at most a pixel apart; replicated borders. Length 1 or less
/// copies. Needs: equal sizes; `dst` may be `src`. Throws: sizes differ, length above 1000, or
/// non-finite arguments. Thread-safe.
void motion_blur(FloatView src, float length, float angle, ImageView<float> dst);

/// Adds independent Gaussian noise of deviation `sigma`. The same seed and index (a picture's
/// number) give the same noise on every machine, up to the last bits of log and cos. Throws: sigma
/// negative or not finite. Thread-safe.
void add_noise(ImageView<float> image, float sigma, std::uint64_t seed, std::uint64_t index = 0);

}  // namespace sdm::image
