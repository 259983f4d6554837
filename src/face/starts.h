#pragma once

#include <cstdint>
#include <random>

#include "sdm/face/model.h"

namespace sdm::face {

/// Normal numbers that are the same on every machine up to the last bits of log and cos.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  float operator()();

 private:
  std::mt19937_64 random_;
};

/// Uniform numbers that are the same on every machine.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : random_(seed) {}
  float operator()(float low, float high) {
    return low + (high - low) * static_cast<float>(random_() >> 40) * 0x1p-24F;
  }
  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  float sign() { return below(2) == 0 ? -1.0F : 1.0F; }

 private:
  std::mt19937_64 random_;
};

/// Where the detector might have seen a face with these true points: upright.
Frame detected_frame(const Shape& truth, const Shape& mean, const BoxConvention& convention,
                     Noise& noise);

/// Where the face might have been in the frame before (section "Facial feature tracking").
Frame tracked_frame(const Shape& truth, const Shape& mean, Noise& noise);

}  // namespace sdm::face
