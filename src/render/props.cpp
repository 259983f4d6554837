#include "render/props.h"

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

namespace sdm::render {
namespace {

constexpr float kTurn = 2 * std::numbers::pi_v<float>;

// A tube of four sides along a line.
void add_tube(const std::vector<Eigen::Vector3f>& line, bool closed, float half_width,
              Piece& piece) {
  const std::size_t count = line.size() + (closed ? 1 : 0);
  for (std::size_t i = 0; i < count; ++i) {
    const Eigen::Vector3f& at = line[i % line.size()];
    const Eigen::Vector3f& before = line[i > 0 ? i - 1 : closed ? line.size() - 1 : 0];
    const Eigen::Vector3f& after =
        line[closed ? (i + 1) % line.size() : std::min(i + 1, line.size() - 1)];
    const Eigen::Vector3f along = (after - before).normalized();
    Eigen::Vector3f across = along.cross(Eigen::Vector3f::UnitZ());
    if (across.norm() < 0.3F) across = along.cross(Eigen::Vector3f::UnitY());
    across.normalize();
    const Eigen::Vector3f up = across.cross(along);
    for (int k = 0; k <= 4; ++k) {
      const float angle = kTurn * float(k) / 4;
      piece.points.emplace_back(at +
                                half_width * (std::cos(angle) * across + std::sin(angle) * up));
      piece.texture.emplace_back(0, 0);
    }
  }
  piece.join_grid(int(count), 5);
}

float signed_power(float value, float power) {
  return std::copysign(std::pow(std::abs(value), power), value);
}

}  // namespace

Glasses put_on_glasses(const Eigen::Vector3f& eyes, Random& random) {
  Glasses glasses;
  const float rx = between(random, 2.1, 2.9), ry = between(random, 1.3, 2.3),
              power = 2 / between(random, 2, 5), thick = between(random, 0.05, 0.28),
              y = eyes.y() + between(random, -0.6, 0.15), z = eyes.z() + between(random, 0.7, 1.6),
              apart = between(random, 3.05, 3.45);
  const bool rimless = random.uniform() < 0.12, half = random.uniform() < 0.15;
  glasses.tint = random.uniform() < 0.22 ? between(random, 0.02, 0.5) : between(random, 0.85, 1);
  const auto bend = [&](float x) { return z - 0.06F * std::pow(std::abs(x), 1.3F); };
  for (const float side : {-1.0F, 1.0F}) {
    std::vector<Eigen::Vector3f> outline;
    for (int i = 0; i < 40; ++i) {
      const float angle = kTurn * float(i) / 40;
      const float x = side * apart + rx * signed_power(std::cos(angle), power);
      outline.emplace_back(x, y + ry * signed_power(std::sin(angle), power), bend(x));
    }
    glasses.lenses.push_back(outline);
    if (half) {
      add_tube({outline.begin(), outline.begin() + 21}, false, thick, glasses.frame);
    } else if (!rimless) {
      add_tube(outline, true, thick, glasses.frame);
    }
    const float outer = side * (apart + rx);
    add_tube({{outer, y + 0.4F * ry, bend(outer)},
              {side * 7.3F, y + 0.35F * ry, z - 3.2F},
              {side * 8.0F, y + 0.2F, 2.5F}},
             false, std::min(thick, 0.15F), glasses.frame);
  }
  const float inner = apart - rx;
  add_tube({{-inner, y + 0.3F, z}, {0, y + 0.5F, z + 0.2F}, {inner, y + 0.3F, z}}, false,
           std::min(thick, 0.18F), glasses.frame);
  return glasses;
}

Piece dress(Random& random) {
  Piece piece;
  constexpr int kAround = 40;
  const float neckline = between(random, -14.5, -10.5), shoulder = between(random, 17, 23),
              slope = between(random, 4, 8), deep = between(random, 7, 10),
              lean = between(random, -2, 1);
  std::vector<Eigen::Vector3f> profile;  // half width, height, half depth
  if (random.uniform() < 0.45) {         // a collar, a scarf
    const float tall = between(random, 0.8, 3.5), wide = between(random, 0.3, 1.6);
    profile.emplace_back(6.6F + wide, neckline + tall, 6.6F + wide);
    profile.emplace_back(7.2F + 1.3F * wide, neckline + 0.5F * tall, 7.0F + 1.3F * wide);
  }
  profile.emplace_back(7.0F, neckline, 6.6F);
  profile.emplace_back(0.6F * shoulder, neckline - 0.35F * slope, deep);
  profile.emplace_back(0.9F * shoulder, neckline - 0.8F * slope, deep + 1);
  profile.emplace_back(shoulder, neckline - 1.6F * slope, deep + 2);
  profile.emplace_back(1.05F * shoulder, neckline - 26, deep + 3);
  for (const Eigen::Vector3f& ring : profile)
    for (int i = 0; i <= kAround; ++i) {
      const float angle = kTurn * float(i) / kAround;
      piece.points.emplace_back(ring.x() * std::sin(angle), ring.y(),
                                lean + ring.z() * std::cos(angle));
      piece.texture.emplace_back(127 * std::abs(2 * float(i) / kAround - 1),
                                 std::clamp(4 * (neckline + 4 - ring.y()), 0.0F, 127.0F));
    }
  piece.join_grid(int(profile.size()), kAround + 1);
  return piece;
}

float Bar::inside(const Eigen::Vector2f& point, Eigen::Vector3f& normal) const {
  const Eigen::Vector2f axis = to - from;
  const float t =
      std::clamp((point - from).dot(axis) / std::max(axis.squaredNorm(), 1e-6F), 0.0F, 1.0F);
  const Eigen::Vector2f off = point - from - t * axis;
  const float radius = radius_from + t * (radius_to - radius_from), distance = off.norm();
  const float share = std::min(1.0F, distance / std::max(radius, 1e-3F));
  normal << off.x() / std::max(radius, 1e-3F), -off.y() / std::max(radius, 1e-3F),
      std::sqrt(std::max(0.0F, 1 - share * share));
  return radius - distance;
}

std::vector<Bar> hold_something(const Eigen::Vector2f& middle, float size, Random& random) {
  std::vector<Bar> bars;
  const float angle = random.uniform() < 0.6
                          ? between(random, 0.1, std::numbers::pi - 0.1)  // below
                          : between(random, 0, 2 * std::numbers::pi);
  const Eigen::Vector2f outwards(std::cos(angle), std::sin(angle));
  const Eigen::Vector2f across(-outwards.y(), outwards.x());
  const Eigen::Vector2f place = middle + outwards * size * between(random, 0.35, 0.75);
  const double kind = random.uniform();
  if (kind < 0.5) {  // a hand: fingers from a palm
    const float finger = size * between(random, 0.045, 0.07);
    const float spread = between(random, 1.9, 2.6);
    for (int i = 0; i < 4; ++i) {
      const float aside = (float(i) - 1.5F) * spread * finger;
      const float length = size * between(random, 0.18, 0.32);
      const Eigen::Vector2f root = place + across * aside + outwards * size * 0.12F;
      bars.push_back({root - outwards * length + across * aside * between(random, -0.2, 0.3), root,
                      0.85F * finger, finger});
    }
    const Eigen::Vector2f palm = place + outwards * size * 0.22F;
    bars.push_back(
        {palm - across * finger * 2, palm + across * finger * 2, 2.2F * finger, 2.2F * finger});
    bars.push_back({palm, palm + outwards * size * 0.8F, 2.6F * finger, 3 * finger});
  } else if (kind < 0.8) {  // a microphone, a glass, a stick
    const float head = size * between(random, 0.06, 0.14);
    bars.push_back({place, place + across * head * between(random, -0.3, 0.3), head, head});
    bars.push_back({place, place + outwards * size * 0.9F, head * between(random, 0.4, 0.9),
                    head * between(random, 0.4, 0.8)});
  } else {  // a shoulder, a lock, another head
    const float radius = size * between(random, 0.12, 0.35);
    bars.push_back({place,
                    place + outwards * size * between(random, 0, 0.4) +
                        across * size * between(random, -0.4, 0.4),
                    radius, radius * between(random, 0.5, 1.3)});
  }
  return bars;
}

}  // namespace sdm::render
