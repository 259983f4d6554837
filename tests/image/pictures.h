#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdint>
#include <random>

#include "sdm/image/image_view.h"

namespace sdm::image {

/// Runs the body once with each instruction set that is compiled in and that this machine has.
template <class Body>
void on_every_target(Body body) {
  const std::int64_t all = hwy::SupportedTargets() & HWY_TARGETS;
  for (std::int64_t rest = all; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <class T>
Image<T> noise(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  Image<T> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) image(x, y) = T(random() % 256);
  }
  return image;
}

template <class T, class Function>
Image<T> picture(int width, int height, Function value) {
  Image<T> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) image(x, y) = T(value(x, y));
  }
  return image;
}

template <class T>
Image<T> mirrored(const Image<T>& image) {
  return picture<T>(image.width(), image.height(),
                    [&](int x, int y) { return image(image.width() - 1 - x, y); });
}

template <class T>
double largest_difference(const Image<T>& a, const Image<T>& b) {
  double largest = 0;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      const double d = std::abs(double(a(x, y)) - double(b(x, y)));
      if (!(d <= largest)) largest = d;  // keeps a NaN
    }
  }
  return largest;
}

}  // namespace sdm::image
