#include "render/field.h"

#include <algorithm>
#include <cmath>

namespace sdm::render {

float between(Random& random, double low, double high) { return float(random.uniform(low, high)); }

float interpolate(std::span<const std::pair<float, float>> table, float x) {
  for (std::size_t i = 1; i < table.size(); ++i)
    if (x <= table[i].first)
      return table[i - 1].second +
             (table[i].second - table[i - 1].second) * ramp(table[i - 1].first, table[i].first, x);
  return table.back().second;
}

namespace {

// Means over 2r + 1 values of a row, ends replicated.
void box_mean(float* row, int count, int r, std::vector<float>& copy) {
  copy.assign(row, row + count);
  const float* values = copy.data();
  const auto at = [&](int i) { return double(values[std::clamp(i, 0, count - 1)]); };
  double sum = 0;
  for (int i = -r; i <= r; ++i) sum += at(i);
  const double scale = 1.0 / (2 * r + 1);
  for (int i = 0; i < count; ++i) {
    row[i] = float(sum * scale);
    sum += at(i + r + 1) - at(i - r);
  }
}

// The same down all columns at once, row by row.
void box_mean_down(image::ImageView<float> view, int r, std::vector<double>& sums, Field& copy) {
  const image::ImageView<float> before = copy;
  for (int y = 0; y < view.height; ++y)
    std::copy(view.row(y), view.row(y) + view.width, before.row(y));
  const auto at = [&](int y) { return before.row(std::clamp(y, 0, view.height - 1)); };
  sums.assign(std::size_t(view.width), 0);
  double* sum = sums.data();
  for (int y = -r; y <= r; ++y) {
    const float* row = at(y);
    for (int x = 0; x < view.width; ++x) sum[x] += double(row[x]);
  }
  const double scale = 1.0 / (2 * r + 1);
  for (int y = 0; y < view.height; ++y) {
    const float *next = at(y + r + 1), *last = at(y - r);
    float* row = view.row(y);
    for (int x = 0; x < view.width; ++x) {
      row[x] = float(sum[x] * scale);
      sum[x] += double(next[x]) - double(last[x]);
    }
  }
}

}  // namespace

void blur(Field& field, float sigma) {
  if (!(sigma > 0.05F) || field.view().empty()) return;
  const image::ImageView<float> view = field;
  std::vector<float> copy;
  if (sigma < 0.8F) {  // too narrow for boxes: three weights
    const float side = 0.5F * (1 - std::exp(-sigma * sigma * 1.6F)), middle = 1 - 2 * side;
    const auto pass = [&](float* line, int count, std::ptrdiff_t step) {
      copy.resize(std::size_t(count));
      for (int i = 0; i < count; ++i) copy[std::size_t(i)] = line[i * step];
      for (int i = 0; i < count; ++i)
        line[i * step] =
            middle * copy[std::size_t(i)] + side * (copy[std::size_t(std::max(0, i - 1))] +
                                                    copy[std::size_t(std::min(count - 1, i + 1))]);
    };
    for (int y = 0; y < view.height; ++y) pass(view.row(y), view.width, 1);
    for (int x = 0; x < view.width; ++x) pass(view.data + x, view.height, view.stride);
    return;
  }
  // Three boxes of 2r + 1 have the variance r (r + 1).
  const int r = std::max(1, int(std::lround(std::sqrt(sigma * sigma + 0.25F) - 0.5F)));
  std::vector<double> sums;
  Field before(view.width, view.height);
  for (int pass = 0; pass < 3; ++pass) {
    for (int y = 0; y < view.height; ++y) box_mean(view.row(y), view.width, r, copy);
    box_mean_down(view, r, sums, before);
  }
}

Noise::Noise(std::uint64_t seed) : lattice_(65536) {
  Random random(seed, "render noise");
  for (float& value : lattice_) value = float(random.normal());
}

Grain Grain::random(Random& random, float size_x, float size_y) {
  return {1 / size_x, 1 / size_y, float(random.uniform(0, 256)), float(random.uniform(0, 256))};
}

GrainRows::GrainRows(const Noise& noise, const Grain& grain, int width)
    : noise_(noise), grain_(grain), above_(), below_(), row_(std::size_t(width)) {
  for (int u = 0; u < width; ++u) {
    const float x = grain.x + float(u) * grain.frequency_x;
    const int whole = whole_below(x);
    const float share = x - float(whole);
    left_.push_back(std::uint32_t(whole) & 255U);
    share_.push_back(share * share * (3 - 2 * share));
  }
}

void GrainRows::interpolate_line(int number, std::vector<float>& line) const {
  const std::uint32_t top = (std::uint32_t(number) & 255U) << 8;
  line.resize(row_.size());
  const std::uint32_t* left = left_.data();
  const float* share = share_.data();
  for (std::size_t u = 0; u < line.size(); ++u)
    line[u] = noise_.white(top | left[u]) * (1 - share[u]) +
              noise_.white(top | ((left[u] + 1) & 255U)) * share[u];
}

const float* GrainRows::operator()(float v) {
  const float y = grain_.y + v * grain_.frequency_y;
  const int number = whole_below(y);
  if (above_.empty() || number != number_) {
    if (!above_.empty() && number == number_ + 1)
      above_.swap(below_);
    else
      interpolate_line(number, above_);
    interpolate_line(number + 1, below_);
    number_ = number;
  }
  float share = y - float(number);
  share = share * share * (3 - 2 * share);
  const float *above = above_.data(), *below = below_.data();
  float* row = row_.data();
  for (std::size_t u = 0; u < row_.size(); ++u) row[u] = above[u] * (1 - share) + below[u] * share;
  return row;
}

void fill_polygon(Field& field, const std::vector<float>& x, const std::vector<float>& y) {
  const std::size_t n = x.size();
  std::vector<float> crossings;
  for (int row = 0; row < field.height(); ++row) {
    crossings.clear();
    const auto at = float(row);
    for (std::size_t i = 0, j = n - 1; i < n; j = i++)
      if ((y[i] > at) != (y[j] > at))
        crossings.push_back(x[j] + (at - y[j]) / (y[i] - y[j]) * (x[i] - x[j]));
    std::sort(crossings.begin(), crossings.end());
    for (std::size_t i = 0; i + 1 < crossings.size(); i += 2)
      for (int column = std::max(0, int(std::ceil(crossings[i])));
           column <= std::min(field.width() - 1, int(std::floor(crossings[i + 1]))); ++column)
        field(column, row) = 1;
  }
}

void draw_line(Field& field, float x0, float y0, float x1, float y1, float half_width,
               float opacity) {
  const float reach = half_width + 1;
  const int left = std::max(0, int(std::min(x0, x1) - reach));
  const int right = std::min(field.width() - 1, int(std::max(x0, x1) + reach) + 1);
  const int top = std::max(0, int(std::min(y0, y1) - reach));
  const int bottom = std::min(field.height() - 1, int(std::max(y0, y1) + reach) + 1);
  const float dx = x1 - x0, dy = y1 - y0, square = std::max(dx * dx + dy * dy, 1e-6F);
  for (int y = top; y <= bottom; ++y)
    for (int x = left; x <= right; ++x) {
      const float px = float(x) - x0, py = float(y) - y0;
      const float t = clamp01((px * dx + py * dy) / square);
      const float ex = px - t * dx, ey = py - t * dy;
      const float cover = opacity * clamp01(half_width + 0.5F - std::sqrt(ex * ex + ey * ey)) *
                          std::min(1.0F, 2 * half_width);
      field(x, y) = std::max(field(x, y), cover);
    }
}

}  // namespace sdm::render
