#include "render/photograph.h"

#include <array>
#include <cmath>
#include <numbers>

#include "sdm/image/augment.h"

namespace sdm::render {
namespace {

// A piece of a picture, stretched over the field.
Field piece_of(const image::Image<std::uint8_t>& picture, int width, int height, Random& random) {
  const double share = random.uniform(0.25, 1);
  const float w = float(share * (picture.width() - 1)), h = float(share * (picture.height() - 1));
  const float side = std::min(w, h);
  const float x0 = between(random, 0, picture.width() - 1 - side),
              y0 = between(random, 0, picture.height() - 1 - side);
  Field field(width, height);
  const float low = between(random, -0.2, 0.25), gain = between(random, 0.4, 1.1);
  const bool mirrored = random.below(2) == 0;
  const float step = side / float(std::max(width, height));
  const int mean = std::clamp(int(step), 1, 6);  // pixels of the picture that are one of the field
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u) {
      const float x = x0 + step * float(mirrored ? width - 1 - u : u), y = y0 + step * float(v);
      float sum = 0;
      for (int dy = 0; dy < mean; ++dy)
        for (int dx = 0; dx < mean; ++dx)
          sum += float(picture(std::clamp(int(x) + dx, 0, picture.width() - 1),
                               std::clamp(int(y) + dy, 0, picture.height() - 1)));
      field(u, v) = clamp01(low + gain * sum / (255 * float(mean * mean)));
    }
  return field;
}

void add_shape(Field& field, const Noise& noise, Random& random) {
  const float w = float(field.width()), h = float(field.height());
  const float cx = between(random, 0, w), cy = between(random, 0, h);
  const float rx = w * std::exp(between(random, -3.5, -0.7)),
              ry = h * std::exp(between(random, -3.5, -0.4));
  const float angle =
      random.uniform() < 0.5 ? float(0.1 * random.normal()) : between(random, 0, 3.1);
  const float c = std::cos(angle), s = std::sin(angle), value = float(random.uniform());
  const bool round = random.uniform() < 0.4;
  const float stripes = random.uniform() < 0.25 ? between(random, 0.3, 1.5) : 0;
  const Grain grain = Grain::random(random, between(random, 2, 20), between(random, 2, 20));
  const float rough = between(random, 0, 0.25), opacity = between(random, 0.4, 1);
  const float reach = std::max(rx, ry) * 1.5F;
  for (int v = std::max(0, int(cy - reach)); v < std::min(field.height(), int(cy + reach)); ++v)
    for (int u = std::max(0, int(cx - reach)); u < std::min(field.width(), int(cx + reach)); ++u) {
      const float x = c * (float(u) - cx) + s * (float(v) - cy);
      const float y = c * (float(v) - cy) - s * (float(u) - cx);
      const float out =
          round ? std::hypot(x / rx, y / ry) : std::max(std::abs(x) / rx, std::abs(y) / ry);
      if (out > 1) continue;
      float shade = value + rough * grain(noise, float(u), float(v));
      if (stripes > 0) shade += 0.25F * std::sin(stripes * x);
      field(u, v) += opacity * (shade - field(u, v));
    }
}

constexpr int kBlock = 8;
using Block = std::array<std::array<float, kBlock>, kBlock>;

const Block& cosines() {
  static const Block table = [] {
    Block made{};
    for (int k = 0; k < kBlock; ++k)
      for (int x = 0; x < kBlock; ++x)
        made[std::size_t(k)][std::size_t(x)] =
            float(std::sqrt((k == 0 ? 1.0 : 2.0) / kBlock) *
                  std::cos((2 * x + 1) * k * std::numbers::pi / (2 * kBlock)));
    return made;
  }();
  return table;
}

// out = A in A' or, transposed, A' in A.
Block transform(const Block& in, bool transposed) {
  const Block& table = cosines();
  const auto weight = [&](int i, int j) {
    return transposed ? table[std::size_t(j)][std::size_t(i)]
                      : table[std::size_t(i)][std::size_t(j)];
  };
  Block half{}, out{};
  for (int i = 0; i < kBlock; ++i)
    for (int k = 0; k < kBlock; ++k) {
      const float w = weight(i, k);
      for (std::size_t j = 0; j < kBlock; ++j) half[std::size_t(i)][j] += w * in[std::size_t(k)][j];
    }
  for (int j = 0; j < kBlock; ++j)
    for (int k = 0; k < kBlock; ++k) {
      const float w = weight(j, k);
      for (std::size_t i = 0; i < kBlock; ++i)
        out[i][std::size_t(j)] += w * half[i][std::size_t(k)];
    }
  return out;
}

// The steps of luminance that the JPEG standard gives as an example (ITU-T T.81, table K.1).
constexpr std::array<int, 64> kSteps = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

}  // namespace

Field make_background(int width, int height,
                      const std::vector<image::Image<std::uint8_t>>& pictures, const Noise& noise,
                      Random& random) {
  Field field(width, height);
  if (!pictures.empty() && random.uniform() < 0.6) {
    field = piece_of(pictures[random.below(pictures.size())], width, height, random);
  } else {
    const float level = float(random.uniform()), slope = between(random, -0.6, 0.6),
                turn = between(random, 0, 2 * std::numbers::pi), rough = between(random, 0, 0.2);
    const float size = float(std::max(width, height));
    const Grain grain =
        Grain::random(random, size / between(random, 2, 30), size / between(random, 2, 30));
    GrainRows grains(noise, grain, width);
    const float c = std::cos(turn), s = std::sin(turn);
    for (int v = 0; v < height; ++v) {
      const float* row = grains(float(v));
      for (int u = 0; u < width; ++u)
        field(u, v) =
            level + slope * ((c * float(u) + s * float(v)) / size - 0.5F) + rough * row[u];
    }
    if (random.uniform() > 0.2) {
      const std::size_t shapes = 3 + random.below(30);
      for (std::size_t i = 0; i < shapes; ++i) add_shape(field, noise, random);
    }
  }
  blur(field, random.uniform() < 0.3 ? between(random, 0, 1) : between(random, 0.5, 9));
  return field;
}

void compress(Field& picture, int quality) {
  const int scale = quality < 50 ? 5000 / std::max(1, quality) : 200 - 2 * quality;
  const image::ImageView<float> view = picture;
  for (int y0 = 0; y0 < view.height; y0 += kBlock)
    for (int x0 = 0; x0 < view.width; x0 += kBlock) {
      Block block{};
      for (int y = 0; y < kBlock; ++y)
        for (int x = 0; x < kBlock; ++x)
          block[std::size_t(y)][std::size_t(x)] =
              255 * view(std::min(x0 + x, view.width - 1), std::min(y0 + y, view.height - 1)) - 128;
      block = transform(block, false);
      for (std::size_t i = 0; i < kSteps.size(); ++i) {
        const auto step = float(std::clamp((kSteps[i] * scale + 50) / 100, 1, 255));
        float& coefficient = block[i / kBlock][i % kBlock];
        coefficient = step * std::nearbyint(coefficient / step);
      }
      block = transform(block, true);
      for (int y = 0; y < std::min(kBlock, view.height - y0); ++y)
        for (int x = 0; x < std::min(kBlock, view.width - x0); ++x)
          view(x0 + x, y0 + y) = clamp01((block[std::size_t(y)][std::size_t(x)] + 128) / 255);
    }
}

image::Image<std::uint8_t> photograph(Field picture, bool flaws, const Noise& noise,
                                      Random& random) {
  const image::ImageView<float> view = picture;
  const double focus = random.uniform();
  const float sigma = between(random, 0.3, 1.2), shake = between(random, 2, 8),
              turn = between(random, 0, std::numbers::pi),
              grain = std::pow(between(random, 0, 1), 2.0F) * 0.03F;
  const bool shaken = random.uniform() < 0.06, soft = random.uniform() < 0.08;
  const int quality = int(random.uniform(45, 97));
  const auto start = std::uint32_t(random.below(65536)),
             stride = std::uint32_t(2 * random.below(32768) + 1);
  if (flaws) {
    if (focus < 0.6) blur(picture, soft ? 2 * sigma : sigma);
    if (shaken) image::motion_blur(picture, shake, turn, picture);
    std::uint32_t at = start;
    for (int y = 0; y < view.height; ++y)
      for (int x = 0; x < view.width; ++x)
        view(x, y) = clamp01(view(x, y) + grain * noise.white(at += stride));
    compress(picture, quality);
  }
  image::Image<std::uint8_t> bytes(view.width, view.height);
  for (int y = 0; y < view.height; ++y)
    for (int x = 0; x < view.width; ++x)
      bytes(x, y) = std::uint8_t(std::lround(255 * clamp01(view(x, y))));
  return bytes;
}

}  // namespace sdm::render
