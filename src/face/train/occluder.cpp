#include "sdm/face/train/occluder.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sdm::face {

bool Occluder::covers(float px, float py) const {
  const float dx = px - x, dy = py - y;
  const float u = (cosine * dx + sine * dy) / half_width,
              v = (cosine * dy - sine * dx) / half_height;
  return round ? u * u + v * v <= 1 : std::abs(u) <= 1 && std::abs(v) <= 1;
}

Occluder draw_occluder(const Shape& points, Random& random) {
  const auto uniform = [&](double low, double high) {
    return static_cast<float>(random.uniform(low, high));
  };
  const Eigen::AlignedBox2f around = bounds(points);
  const Eigen::Vector2f size = around.sizes();
  Occluder occluder;
  occluder.round = random.below(2) == 0;
  occluder.x = around.min().x() + uniform(0, 1) * size.x();
  occluder.y = around.min().y() + uniform(0, 1) * size.y();
  occluder.half_width = std::max(1.0F, 0.5F * uniform(0.1, 0.5) * size.x());
  occluder.half_height = std::max(1.0F, 0.5F * uniform(0.1, 0.9) * size.y());
  const float angle = uniform(0, std::numbers::pi);
  occluder.cosine = std::cos(angle);
  occluder.sine = std::sin(angle);
  return occluder;
}

void paint(const Occluder& occluder, image::ByteView other, Random& random,
           image::ImageView<std::uint8_t> picture) {
  const auto uniform = [&](double low, double high) {
    return static_cast<float>(random.uniform(low, high));
  };
  const bool textured = !other.empty() && random.below(3) > 0;
  const float grey = uniform(0, 255), slope_x = uniform(-1, 1), slope_y = uniform(-1, 1),
              grain = uniform(0, 12);
  const int shift_x = textured ? static_cast<int>(random.below(std::uint64_t(other.width))) : 0,
            shift_y = textured ? static_cast<int>(random.below(std::uint64_t(other.height))) : 0;
  const float reach = std::hypot(occluder.half_width, occluder.half_height);
  const auto from = [](float v) { return std::max(0, static_cast<int>(std::floor(v))); };
  const auto to = [](float v, int size) {
    return std::min(size - 1, static_cast<int>(std::ceil(v)));
  };
  for (int y = from(occluder.y - reach); y <= to(occluder.y + reach, picture.height); ++y)
    for (int x = from(occluder.x - reach); x <= to(occluder.x + reach, picture.width); ++x) {
      const auto px = static_cast<float>(x), py = static_cast<float>(y);
      if (!occluder.covers(px, py)) continue;
      const float plain =
          grey + slope_x * (px - occluder.x) + slope_y * (py - occluder.y) + uniform(-1, 1) * grain;
      picture(x, y) = textured ? other((x + shift_x) % other.width, (y + shift_y) % other.height)
                               : static_cast<std::uint8_t>(std::clamp(plain, 0.0F, 255.0F));
    }
}

}  // namespace sdm::face
