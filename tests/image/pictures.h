#pragma once

#include <cmath>
#include <random>

#include "sdm/image/image_view.h"

namespace sdm::image {

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
