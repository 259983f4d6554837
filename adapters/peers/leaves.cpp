#include "adapters/peers/leaves.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sdm/base/random.h"
#include "sdm/face/similarity.h"

namespace sdm::peers {
namespace {

constexpr int kSide = 160;

// A leaf in its own coordinates, in pixels: the tip up at v = -length, the foot at v = length.
struct Leaf {
  double length, width, bend;  // half the blade's
  double fork, vein_end;       // where the side veins begin and end, shares of the length
  Eigen::Vector2d spot;

  double middle(double v) const { return bend * (1 - v * v / (length * length)); }
  double half_width(double v) const {
    return width * std::max(0.0, 1 - v * v / (length * length)) * (1 + 0.3 * v / length);
  }
  Eigen::Vector2d on_edge(double side) const {
    const double v = vein_end * length;
    return {middle(v) + side * half_width(v), v};
  }
  Eigen::Vector2d on_middle(double share) const { return {middle(share * length), share * length}; }
};

constexpr double kStemEnd = 1.4;

double segment_distance(const Eigen::Vector2d& p, const Eigen::Vector2d& a,
                        const Eigen::Vector2d& b) {
  const double along = std::clamp((p - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0);
  return (p - a - along * (b - a)).norm();
}

// 1 inside, 0 outside, soft over a pixel.
double cover(double outside) { return std::clamp(0.5 - outside, 0.0, 1.0); }

// How bright the leaf is at a point, and how much of the ground it covers.
struct Tone {
  double value, share;
};

Tone tone_of(const Leaf& leaf, const Eigen::Vector2d& p) {
  const double u = p.x() - leaf.middle(p.y());
  const double blade =
      std::abs(p.y()) < leaf.length ? cover(std::abs(u) - leaf.half_width(p.y())) : 0;
  const bool below_the_tip = p.y() > -leaf.length && p.y() < kStemEnd * leaf.length;
  const double rib = below_the_tip ? cover(std::abs(u) - 1.2) : 0;
  double vein = blade * rib;
  for (const double side : {-1.0, 1.0})
    vein = std::max(
        vein,
        blade * cover(segment_distance(p, leaf.on_middle(leaf.fork), leaf.on_edge(side)) - 0.8));
  const double spot = blade * cover((p - leaf.spot).norm() - 3.5);
  return {(1 - 0.45 * vein) * (1 - 0.7 * spot), std::max(blade, rib)};
}

}  // namespace

face::TrainingFace draw_leaf(std::uint64_t seed, std::uint64_t number) {
  Random random(seed, "leaf", number);
  Leaf leaf;
  leaf.length = random.uniform(40, 52);
  leaf.width = leaf.length * random.uniform(0.4, 0.7);
  leaf.bend = leaf.length * random.uniform(-0.15, 0.15);
  leaf.fork = random.uniform(0.2, 0.5);
  leaf.vein_end = leaf.fork - random.uniform(0.3, 0.5);
  const double spot_at = random.uniform(-0.6, 0.1) * leaf.length;
  leaf.spot = {
      leaf.middle(spot_at) + random.sign() * random.uniform(0.25, 0.7) * leaf.half_width(spot_at),
      spot_at};
  const double turn = random.uniform(-0.35, 0.35);
  const Eigen::Vector2d centre(80 + random.uniform(-10, 10), 74 + random.uniform(-8, 8));
  const double c = std::cos(turn), s = std::sin(turn);

  face::TrainingFace face;
  face::Shape points(2, 7);
  Index p = 0;
  for (const Eigen::Vector2d& point :
       {leaf.on_middle(-1), leaf.on_middle(1), leaf.on_middle(kStemEnd), leaf.on_middle(leaf.fork),
        leaf.on_edge(-1), leaf.on_edge(1), leaf.spot})
    points.col(p++) = point.cast<float>();
  face.truth = points;
  face::Similarity{float(c), float(s), float(centre.x()), float(centre.y())}.to_image(points,
                                                                                      face.truth);

  const double bright = random.uniform(120, 200), ground = random.uniform(30, 90);
  const double slope_x = random.uniform(-0.3, 0.3), slope_y = random.uniform(-0.3, 0.3);
  Eigen::Matrix<double, 3, 4> waves;  // of the ground: frequencies and phase
  for (Index i = 0; i < waves.cols(); ++i)
    waves.col(i) << random.uniform(-0.25, 0.25), random.uniform(-0.25, 0.25),
        random.uniform(0, 2 * std::numbers::pi);
  face.picture = image::Image<std::uint8_t>(kSide, kSide);
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) {
      const Eigen::Vector2d off = Eigen::Vector2d(x, y) - centre;
      const Tone tone = tone_of(leaf, {c * off.x() + s * off.y(), c * off.y() - s * off.x()});
      double mottled = ground;
      for (const auto& wave : waves.colwise())
        mottled += 12 * std::sin(wave.x() * x + wave.y() * y + wave.z());
      const double light = slope_x * off.x() + slope_y * off.y();
      const double value = tone.share * bright * tone.value + (1 - tone.share) * mottled + light;
      face.picture(x, y) =
          static_cast<std::uint8_t>(std::clamp(std::lround(value + 6 * random.normal()), 0L, 255L));
    }
  face.boxes = {{0, 0, kSide, kSide}};
  return face;
}

std::vector<face::TrainingFace> draw_leaves(std::uint64_t seed, int first, int count) {
  std::vector<face::TrainingFace> leaves;
  for (int i = 0; i < count; ++i)
    leaves.push_back(draw_leaf(seed, static_cast<std::uint64_t>(first + i)));
  return leaves;
}

}  // namespace sdm::peers
