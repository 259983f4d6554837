#include "image/scalar.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "image/checks.h"
#include "image/sample.h"

namespace sdm::image::scalar {
namespace {

int luma(const auto* p, Layout layout, int round, int shift) {
  const bool red_first = layout == Layout::rgb || layout == Layout::rgba;
  const int r = p[red_first ? 0 : 2], g = p[1], b = p[red_first ? 2 : 0];
  return std::min((77 * r + 150 * g + 29 * b + round) >> shift, 255);
}

template <class T>
void grey(const ColourView<T>& src, ImageView<std::uint8_t> dst, int shift) {
  checks::same_size(src.width, src.height, dst.width, dst.height);
  for (int y = 0; y < dst.height; ++y) {
    const T* p = src.data + y * src.stride;
    for (int x = 0; x < dst.width; ++x, p += src.channels()) {
      dst(x, y) = std::uint8_t(luma(p, src.layout, 1 << (shift - 1), shift));
    }
  }
}

template <class S, class D>
void affine(ImageView<const S> src, const AffineMap& map, ImageView<D> dst, Border border) {
  checks::source(src.width, src.height);
  checks::map({map.data(), 6});
  const float dx = float(map(0, 0)), dy = float(map(1, 0));
  for (int v = 0; v < dst.height; ++v) {
    const float x = float(map(0, 1) * v + map(0, 2)), y = float(map(1, 1) * v + map(1, 2));
    for (int u = 0; u < dst.width; ++u) {
      store(sample(src, x + float(u) * dx, y + float(u) * dy, border), dst(u, v));
    }
  }
}

template <class S, class D>
void projective(ImageView<const S> src, const ProjectiveMap& map, ImageView<D> dst, Border border) {
  checks::source(src.width, src.height);
  checks::map({map.data(), 9});
  const Eigen::Vector3f d = map.col(0).cast<float>();
  for (int v = 0; v < dst.height; ++v) {
    const Eigen::Vector3f start = (map.col(1) * v + map.col(2)).cast<float>();
    for (int u = 0; u < dst.width; ++u) {
      const Eigen::Vector3f p = start + float(u) * d;
      store(sample(src, p.x() / p.z(), p.y() / p.z(), border), dst(u, v));
    }
  }
}

// The votes of gradient_channels.h.
void votes(float gx, float gy, float* bin) {
  const float root2 = std::sqrt(2.f);
  bin[0] = std::max(0.f, std::min(gx - gy, gx + gy));
  bin[1] = std::max(0.f, root2 * std::min(gx, gy));
  bin[2] = std::max(0.f, std::min(gy - gx, gy + gx));
  bin[3] = std::max(0.f, root2 * std::min(-gx, gy));
  bin[4] = std::max(0.f, std::min(-gx - gy, -gx + gy));
  bin[5] = std::max(0.f, root2 * std::min(-gx, -gy));
  bin[6] = std::max(0.f, std::min(-gy - gx, -gy + gx));
  bin[7] = std::max(0.f, root2 * std::min(gx, -gy));
}

template <class T>
void votes(ImageView<const T> src, int x, int y, float* bin) {
  const int left = std::max(x - 1, 0), right = std::min(x + 1, src.width - 1);
  const int up = std::max(y - 1, 0), down = std::min(y + 1, src.height - 1);
  votes(0.5f * (float(src(right, y)) - float(src(left, y))),
        0.5f * (float(src(x, down)) - float(src(x, up))), bin);
}

// A straight vote is the longer side's surplus, a slanted one sqrt(2) times what the sides share.
template <class T>
void whole_votes(ImageView<const T> src, int x, int y, int* bin) {
  const auto pixel = [&](int u, int v) {
    const T value = src(std::clamp(u, 0, src.width - 1), std::clamp(v, 0, src.height - 1));
    if constexpr (std::is_same_v<T, std::int16_t>)
      return int(value);
    else
      return int(std::lrintf(kPixelParts * float(value)));
  };
  const int gx = pixel(x + 1, y) - pixel(x - 1, y), gy = pixel(x, y + 1) - pixel(x, y - 1);
  const int surplus = std::abs(gx) - std::abs(gy), shared = std::min(std::abs(gx), std::abs(gy));
  bin[surplus > 0 ? (gx > 0 ? 0 : 4) : (gy > 0 ? 2 : 6)] = std::abs(surplus);
  bin[gx > 0 ? (gy > 0 ? 1 : 7) : (gy > 0 ? 3 : 5)] =
      shared + ((shared * kRootLess1 + (1 << 14)) >> 15);
}

template <class T>
void channels_of(ImageView<const T> src, GradientChannels& channels) {
  channels.reset(src.width, src.height);
  for (int y = 0; y < src.height; ++y) {
    const Votes* above = channels.row(y);
    Votes* row = channels.row(y + 1);
    std::uint32_t sum[kBins] = {};
    for (int x = 0; x < src.width; ++x) {
      int bin[kBins] = {};
      whole_votes(src, x, y, bin);
      for (int k = 0; k < kBins; ++k) {
        sum[k] += std::uint32_t(bin[k]);
        row[x + 1].bin[k] = std::int32_t(sum[k] + std::uint32_t(above[x + 1].bin[k]));
      }
    }
  }
}

float sum_of(std::span<const float> values) {
  float sum = 0;
  for (float v : values) sum += v;
  return sum;
}

float squares_of(std::span<const float> values) {
  float sum = 0;
  for (float v : values) sum += v * v;
  return sum;
}

void l2(std::span<float> values, float epsilon) {
  const float scale = 1 / std::sqrt(squares_of(values) + epsilon * epsilon);
  for (float& v : values) v *= scale;
}

void normalise(std::span<float> values, Normalisation how, float epsilon) {
  if (how == Normalisation::sqrt_l1) {
    const float scale = 1 / (sum_of(values) + epsilon);
    for (float& v : values) v = std::sqrt(v * scale);
  } else if (how != Normalisation::none) {
    l2(values, epsilon);
    if (how == Normalisation::l2_hys) {
      for (float& v : values) v = std::min(v, 0.2f);
      l2(values, epsilon);
    }
  }
}

// A coordinate between pixels as a whole number and a remainder: index `at` and, `part` further.
struct Edge {
  int at;
  float part;
};

Edge edge(float position, int size, bool subpixel) {
  const float p = position > 0 ? std::min(position, float(size)) : 0.f;
  if (!subpixel) return {int(p + 0.5f), 0};
  const int at = std::min(int(p), size - 1);
  return {at, p - float(at)};
}

// Votes of one bin in the rectangle between whole edges.
std::int32_t box(const GradientChannels& c, int x0, int y0, int x1, int y1, int k) {
  return std::int32_t(std::uint32_t(c.at(x1, y1).bin[k]) - std::uint32_t(c.at(x0, y1).bin[k]) -
                      std::uint32_t(c.at(x1, y0).bin[k]) + std::uint32_t(c.at(x0, y0).bin[k]));
}

// The same from the corner (x0, y0) to an edge between pixels.
double box(const GradientChannels& c, int x0, int y0, Edge x, Edge y, int k) {
  auto along_x = [&](int v) {
    const double whole = box(c, x0, y0, x.at, v, k);
    return x.part == 0 ? whole : whole + x.part * (box(c, x0, y0, x.at + 1, v, k) - whole);
  };
  const double whole = along_x(y.at);
  return y.part == 0 ? whole : whole + y.part * (along_x(y.at + 1) - whole);
}

template <class T>
void dense(ImageView<const T> src, const DenseHogOptions& o, std::span<float> out) {
  checks::dense_hog(src.width, src.height, o, out.size());
  const int columns = o.columns(src.width), rows = o.rows(src.height);
  const int left = (src.width - columns * o.cell) / 2, top = (src.height - rows * o.cell) / 2;
  const bool l1 = o.normalisation == Normalisation::sqrt_l1;
  float energy[DenseHogOptions::kMaxCells * DenseHogOptions::kMaxCells];
  for (int i = 0; i < columns * rows; ++i) {
    float* cell = &out[std::size_t(i * kBins)];
    std::fill_n(cell, kBins, 0.f);
    for (int y = 0; y < o.cell; ++y) {
      for (int x = 0; x < o.cell; ++x) {
        float bin[kBins];
        votes(src, left + i % columns * o.cell + x, top + i / columns * o.cell + y, bin);
        for (int k = 0; k < kBins; ++k) cell[k] += bin[k];
      }
    }
    for (int k = 0; k < kBins; ++k) cell[k] /= float(o.cell * o.cell);
    energy[i] = l1 ? sum_of({cell, kBins}) : squares_of({cell, kBins});
  }
  if (o.normalisation == Normalisation::none) return;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      float sum = 0;
      for (int y = std::max(r - o.radius, 0); y <= std::min(r + o.radius, rows - 1); ++y) {
        for (int x = std::max(c - o.radius, 0); x <= std::min(c + o.radius, columns - 1); ++x) {
          sum += energy[y * columns + x];
        }
      }
      for (float& v : out.subspan(std::size_t((r * columns + c) * kBins), kBins)) {
        if (l1) {
          v = std::sqrt(v / (sum + o.epsilon));
        } else {
          v /= std::sqrt(sum + o.epsilon * o.epsilon);
          if (o.normalisation == Normalisation::l2_hys) v = std::min(v, 0.2f);
        }
      }
    }
  }
}

}  // namespace

void to_grey(const ColourView<std::uint8_t>& src, ImageView<std::uint8_t> dst) {
  grey(src, dst, 8);
}
void to_grey(const ColourView<std::uint16_t>& src, ImageView<std::uint8_t> dst) {
  grey(src, dst, 16);
}
void to_grey(ImageView<const std::uint16_t> src, ImageView<std::uint8_t> dst) {
  checks::same_size(src.width, src.height, dst.width, dst.height);
  for (int y = 0; y < dst.height; ++y) {
    for (int x = 0; x < dst.width; ++x) {
      dst(x, y) = std::uint8_t(std::min((src(x, y) + 128) >> 8, 255));
    }
  }
}

void warp_affine(ByteView src, const AffineMap& map, ImageView<float> dst, Border border) {
  affine(src, map, dst, border);
}
void warp_affine(ByteView src, const AffineMap& map, ImageView<std::int16_t> dst, Border border) {
  affine(src, map, dst, border);
}
void warp_affine(ByteView src, const AffineMap& map, ImageView<std::uint8_t> dst, Border border) {
  affine(src, map, dst, border);
}
void warp_affine(FloatView src, const AffineMap& map, ImageView<float> dst, Border border) {
  affine(src, map, dst, border);
}
void warp_projective(ByteView src, const ProjectiveMap& map, ImageView<float> dst, Border border) {
  projective(src, map, dst, border);
}
void warp_projective(ByteView src, const ProjectiveMap& map, ImageView<std::int16_t> dst,
                     Border border) {
  projective(src, map, dst, border);
}
void warp_projective(ByteView src, const ProjectiveMap& map, ImageView<std::uint8_t> dst,
                     Border border) {
  projective(src, map, dst, border);
}
void warp_projective(FloatView src, const ProjectiveMap& map, ImageView<float> dst, Border border) {
  projective(src, map, dst, border);
}

void shrink(ByteView src, int factor, ImageView<std::uint8_t> dst) {
  checks::shrink(src, factor, dst);
  const int area = factor * factor;
  for (int v = 0; v < dst.height; ++v) {
    for (int u = 0; u < dst.width; ++u) {
      int sum = 0;
      for (int y = 0; y < factor; ++y) {
        for (int x = 0; x < factor; ++x) sum += src(u * factor + x, v * factor + y);
      }
      dst(u, v) = std::uint8_t((sum + area / 2) / area);
    }
  }
}

void gradient_channels(FloatView src, GradientChannels& channels) { channels_of(src, channels); }
void gradient_channels(PartsView src, GradientChannels& channels) { channels_of(src, channels); }
void gradient_channels(ByteView src, GradientChannels& channels) { channels_of(src, channels); }

void hog(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
         const HogOptions& options, std::span<float> out) {
  checks::hog(channels, points.cols(), options, out.size());
  const int n = options.cells;
  const float scale = 1 / (256 * options.cell * options.cell);
  for (Eigen::Index p = 0; p < points.cols(); ++p) {
    Edge x[HogOptions::kMaxCells + 1], y[HogOptions::kMaxCells + 1];
    for (int i = 0; i <= n; ++i) {
      const float offset = 0.5f + (float(i) - 0.5f * float(n)) * options.cell;
      x[i] = edge(points(0, p) + offset, channels.width(), options.subpixel);
      y[i] = edge(points(1, p) + offset, channels.height(), options.subpixel);
    }
    const auto values = out.subspan(std::size_t(p * options.size()), std::size_t(options.size()));
    for (int i = 0; i < options.size(); ++i) {
      const int k = i % kBins, c = i / kBins % n, r = i / kBins / n;
      auto corner = [&](int column, int row) {
        return box(channels, x[0].at, y[0].at, x[column], y[row], k);
      };
      const double votes =
          corner(c + 1, r + 1) - corner(c, r + 1) - corner(c + 1, r) + corner(c, r);
      values[std::size_t(i)] = std::max(float(votes) * scale, 0.f);
    }
    normalise(values, options.normalisation, options.epsilon);
  }
}

void hog(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
         const HogOptions& options, float step, std::span<std::int16_t> out) {
  std::vector<float> values(out.size());
  scalar::hog(channels, points, options, values);
  std::transform(values.begin(), values.end(), out.begin(), [&](float v) {
    return std::int16_t(std::lrintf(std::clamp(v / step, -32768.F, 32767.F)));
  });
}

void dense_hog(FloatView src, const DenseHogOptions& options, std::span<float> out) {
  dense(src, options, out);
}
void dense_hog(ByteView src, const DenseHogOptions& options, std::span<float> out) {
  dense(src, options, out);
}

CellNorm cell_norm(int cell, int margin) {
  // What is flat: less than this many grey levels a pixel. Sums are of differences of two pixels,
  // twice the gradient. A fifth of the norm is 255.
  constexpr float kFlat = 2.5F;
  const float level = kFlat * 2 * float(cell * cell);
  return {margin, level * level, 5 * 255.F};
}

void sum_cells(ByteView src, int cell, int margin, CellGrid& grid) {
  const auto pixel = [&](int x, int y) {
    return int(src(std::clamp(x, 0, src.width - 1), std::clamp(y, 0, src.height - 1)));
  };
  for (int y = 0; y < src.height / cell * cell; ++y) {
    for (int x = 0; x < src.width / cell * cell; ++x) {
      const int gx = pixel(x + 1, y) - pixel(x - 1, y), gy = pixel(x, y + 1) - pixel(x, y - 1);
      const int surplus = std::abs(gx) - std::abs(gy),
                shared = std::min(std::abs(gx), std::abs(gy));
      const int straight = surplus > 0 ? (gx > 0 ? 0 : 4) : (gy > 0 ? 2 : 6);
      const int slanted = gx > 0 ? (gy > 0 ? 1 : 7) : (gy > 0 ? 3 : 5);
      std::int16_t* votes = grid.row(margin + y / cell) + std::ptrdiff_t(margin + x / cell) * kBins;
      votes[straight] = std::int16_t(votes[straight] + std::abs(surplus));
      votes[slanted] = std::int16_t(votes[slanted] + shared);
    }
  }
}

void cell_grid(ByteView src, int cell, int margin, CellGrid& grid) {
  checks::cell_grid(src, cell, margin);
  grid.reset(src.width / cell + 2 * margin, src.height / cell + 2 * margin);
  sum_cells(src, cell, margin, grid);
  const CellNorm norm = cell_norm(cell, margin);
  const CellGrid votes = grid;
  const auto vote = [&](int x, int y, int k) {
    return double(votes.at(x, y)[k]) * (k % 2 == 1 ? std::sqrt(2.0) : 1);
  };
  for (int y = margin; y < grid.rows() - margin; ++y) {
    for (int x = margin; x < grid.columns() - margin; ++x) {
      double sum = double(norm.epsilon);
      for (int v = std::max(y - 1, 0); v <= std::min(y + 1, grid.rows() - 1); ++v)
        for (int u = std::max(x - 1, 0); u <= std::min(x + 1, grid.columns() - 1); ++u)
          for (int k = 0; k < kBins; ++k) sum += vote(u, v, k) * vote(u, v, k);
      for (int k = 0; k < kBins; ++k)
        grid.row(y)[x * kBins + k] = std::int16_t(
            std::lrint(std::min(vote(x, y, k) * double(norm.full) / std::sqrt(sum), 255.0)));
    }
  }
}

}  // namespace sdm::image::scalar
