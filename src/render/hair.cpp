#include "render/hair.h"

#include <array>
#include <cmath>
#include <numbers>

namespace sdm::render {
namespace {

// The shell's grid by direction from the middle of the head: all around, from the crown down.
constexpr int kAround = 72, kDown = 48;
constexpr float kLowest = -70;  // degrees
const Eigen::Vector3f kMiddle{0, 4, 1};
// Its texture, twice as fine as a picture of 10 px a cm shows.
constexpr int kHairWidth = 420, kHairHeight = 300;

float azimuth(float column, int columns) { return 360 * column / float(columns) - 180; }
float elevation(float row, int rows) { return 90 + (kLowest - 90) * row / float(rows); }

// How far the head reaches in every direction of the grid.
Field reach(const Points& head) {
  Field radius(kAround + 1, kDown + 1);
  for (Index i = 0; i < head.cols(); ++i) {
    if (std::abs(head(0, i)) > 7.7F) continue;  // ears
    const Eigen::Vector3f p = head.col(i) - kMiddle;
    const float r = p.norm();
    const float up = std::asin(std::clamp(p.y() / r, -1.0F, 1.0F)) / kDegree;
    const int row = std::clamp(int((90 - up) / (90 - kLowest) * kDown + 0.5F), 0, kDown);
    const int column = std::clamp(
        int((std::atan2(p.x(), p.z()) / kDegree + 180) / 360 * kAround + 0.5F), 0, kAround);
    radius(column, row) = std::max(radius(column, row), r);
  }
  for (int pass = 0; pass < 8; ++pass) {  // directions without a vertex
    const Field before = radius;
    for (int row = 0; row <= kDown; ++row)
      for (int column = 0; column <= kAround; ++column) {
        if (before(column, row) > 0) continue;
        for (const auto& [dx, dy] :
             std::array<std::pair<int, int>, 4>{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}}) {
          const int x = (column + dx + kAround) % kAround, y = std::clamp(row + dy, 0, kDown);
          radius(column, row) = std::max(radius(column, row), before(x, y));
        }
      }
  }
  float crown = 0;
  for (int column = 0; column <= kAround; ++column) crown = std::max(crown, radius(column, 3));
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column <= kAround; ++column) radius(column, row) = crown;
  for (int row = 0; row <= kDown; ++row)
    radius(0, row) = radius(kAround, row) = std::max(radius(0, row), radius(kAround, row));
  blur(radius, 1.2F);
  return radius;
}

// The shell `thick` off the head; below the ears it falls straight down.
Piece shell(const Field& head, const Noise& noise, float thick, float rough, float flare,
            bool falls, Random& random) {
  Piece piece;
  const Grain fine = Grain::random(random, 8, 8), coarse = Grain::random(random, 20, 20);
  const int ears = int(std::lround(90 / (90 - kLowest) * kDown));
  std::vector<float> at_ears(kAround + 1);
  for (int row = 0; row <= kDown; ++row)
    for (int column = 0; column <= kAround; ++column) {
      const float up = elevation(float(row), kDown), around = azimuth(float(column), kAround);
      const auto u = float(column % kAround), v = float(row);
      const float bumps = thick * rough * (0.15F * fine(noise, u, v) + 0.2F * coarse(noise, u, v));
      const float front = ramp(70, 0, std::abs(around)) * ramp(25, 0, std::abs(up - 25));
      const float top = std::max(ramp(0, 60, up), ramp(0, 100, std::abs(around)));
      const float r =
          head(column, row) + 0.15F + thick * (0.45F + 0.55F * top) * (1 - 0.5F * front) + bumps;
      float level = r * std::cos(up * kDegree), height = r * std::sin(up * kDegree);
      if (row == ears) at_ears[std::size_t(column)] = level;
      if (falls && row > ears) {
        const float share = float(row - ears) / float(kDown - ears);
        level = at_ears[std::size_t(column)] * (1 + 0.6F * flare * share) * 0.97F + 0.2F * bumps;
        height = std::tan(up * kDegree) * 6.75F;
      }
      piece.points.push_back(kMiddle + Eigen::Vector3f(level * std::sin(around * kDegree), height,
                                                       level * std::cos(around * kDegree)));
      piece.texture.emplace_back(float(column) / kAround * (kHairWidth - 1),
                                 float(row) / kDown * (kHairHeight - 1));
    }
  piece.join_grid(kDown + 1, kAround + 1);
  return piece;
}

// The hair's lower edge, degrees of elevation by the azimuth.
std::vector<std::pair<float, float>> hairline(const Person& person, Random& random) {
  const bool fringe = random.uniform() < (person.female ? 0.3 : 0.25);
  const float front = fringe ? between(random, 0, 28) : between(random, 30, 50);
  if (person.long_hair) {
    const float open = between(random, 34, 85);  // how much of the face is free of it
    const float end = random.uniform() < 0.4 ? between(random, -55, -10) : -75;
    return {{0, front},
            {20, front - 2},
            {std::min(30.0F, open - 5), front - between(random, 0, 12)},
            {open - 4, between(random, 5, 25)},
            {open + 2, std::max(-30.0F, end)},
            {open + 6, end},
            {180, end}};
  }
  return {{0, front},
          {20, front - 1 + float(3 * random.normal())},
          {40, front - 4 + float(5 * random.normal())},
          {55, between(random, 20, 32)},
          {66, between(random, 8, 20)},
          {80, between(random, -8, 15)},
          {88, 5},
          {100, -15},
          {180, -35}};
}

}  // namespace

Shell grow_hair(const Points& head, const Person& person, const Noise& noise, Random& random) {
  Shell hair;
  const float thick =
      random.uniform() < 0.5 ? between(random, 0.25, 1.2) : between(random, 0.8, 3.0);
  hair.mesh = shell(reach(head), noise, thick, 1, between(random, -0.1, 0.5), true, random);
  hair.texture = Field(kHairWidth, kHairHeight);
  const auto line = hairline(person, random);
  const auto parting = float(15 * random.normal());
  const Grain fine = Grain::random(random, between(random, 1.2, 3.2), between(random, 20, 80)),
              locks = Grain::random(random, between(random, 4, 11), between(random, 25, 110)),
              bend = Grain::random(random, 66, 66), patches = Grain::random(random, 50, 50),
              edge = Grain::random(random, 25, 25);
  const float curl = between(random, 0, 20), contrast = between(random, 0.2, 0.8),
              ragged = between(random, 1, 7);
  GrainRows bend_rows(noise, bend, kHairWidth), patch_rows(noise, patches, kHairWidth),
      edge_rows(noise, edge, kHairWidth);
  for (int v = 0; v < kHairHeight; ++v) {
    const float fv = float(v), up = elevation(fv, kHairHeight), lift = ramp(10, 50, up);
    const float *bends = bend_rows(fv), *patch_row = patch_rows(fv), *edges = edge_rows(fv);
    for (int u = 0; u < kHairWidth; ++u) {
      const float around = azimuth(float(u), kHairWidth);
      const float fu = float(u) + curl * bends[u];
      const float strand = 0.7F * fine(noise, fu, fv) + 0.7F * locks(noise, fu, fv);
      const float aside = std::abs(around - parting * lift);
      const float above = up - interpolate(line, aside) - ragged * strand - 2 * edges[u];
      // Between the strands near the edge one sees through.
      const bool gap = above < 12 && strand < -0.7F - 0.06F * above;
      hair.texture(u, v) = above < 0 || gap
                               ? -4.0F
                               : person.hair * std::exp(contrast * strand + 0.2F * patch_row[u]);
    }
  }
  return hair;
}

Shell put_on_hat(const Points& head, const Noise& noise, Random& random) {
  Shell hat;
  const Field radius = reach(head);
  hat.mesh = shell(radius, noise, between(random, 0.6, 2.2), 0.4F, 0, false, random);
  hat.texture = Field(kHairWidth, kHairHeight);
  const float colour = std::exp(between(random, std::log(0.015), std::log(0.8)));
  const float front = between(random, 22, 40), back = between(random, -10, 25);
  const Grain knit = Grain::random(random, between(random, 1.5, 4), between(random, 1.5, 8)),
              fold = Grain::random(random, 60, 60);
  const float contrast = between(random, 0, 0.35), band = between(random, 4, 12);
  const float band_colour = random.uniform() < 0.4 ? between(random, 0.3, 1.6) : 1;
  const auto edge_at = [&](float around) {
    return back + (front - back) * 0.5F * (1 + std::cos(around * kDegree));
  };
  for (int v = 0; v < kHairHeight; ++v)
    for (int u = 0; u < kHairWidth; ++u) {
      const float above = elevation(float(v), kHairHeight) - edge_at(azimuth(float(u), kHairWidth));
      hat.texture(u, v) = above < 0 ? -4.0F
                                    : colour * (above < band ? band_colour : 1.0F) *
                                          std::exp(contrast * knit(noise, float(u), float(v)) +
                                                   0.15F * fold(noise, float(u), float(v)));
    }
  if (random.uniform() < 0.6) {  // a brim, in front or all around
    const bool cap = random.uniform() < 0.6;
    const float width = between(random, 2.5, 7), droop = between(random, -0.1, 0.5);
    constexpr int kRings = 5;
    const float brim_v = 0.02F * kHairHeight;
    for (int ring = 0; ring < kRings; ++ring)
      for (int column = 0; column <= kAround; ++column) {
        const float around = azimuth(float(column), kAround);
        const float up = edge_at(around);
        const float row = (90 - up) / (90 - kLowest) * kDown;
        const float r = sample(radius, float(column), row) + 0.4F;
        const float share = float(ring) / (kRings - 1);
        const float out = width * share * (cap ? ramp(62, 35, std::abs(around)) : 1.0F);
        const float level = r * std::cos(up * kDegree) + out;
        hat.mesh.points.push_back(kMiddle +
                                  Eigen::Vector3f(level * std::sin(around * kDegree),
                                                  r * std::sin(up * kDegree) - droop * out,
                                                  level * std::cos(around * kDegree)));
        hat.mesh.texture.emplace_back(float(column) / kAround * (kHairWidth - 1), brim_v);
      }
    hat.mesh.join_grid(kRings, kAround + 1);
  }
  return hat;
}

}  // namespace sdm::render
