#include "render/landmarks.h"

#include <cmath>
#include <numbers>
#include <set>

#include "render/field.h"

namespace sdm::render {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;
constexpr int kMeridians = 65;  // the middle one meets the chin
constexpr int kChin = kMeridians / 2;
// How far the chin's point goes along the contour, of the way that the chin is beside the eyes.
constexpr float kChinSlide = 1.5F;

SurfacePoint between(int a, int b, float share) { return {{a, b, b}, {1 - share, share, 0}}; }

}  // namespace

Landmarks::Landmarks(const HeadModel& head, const Layout& layout) {
  const auto& vertex = head.landmarks;
  for (std::size_t k = 0; k < vertex.size(); ++k) fixed_[k] = between(vertex[k], vertex[k], 0);
  const auto move = [&](std::size_t k, std::size_t towards, float share) {
    fixed_[k] = between(vertex[k], vertex[towards], share);
  };
  // The lids' points are at thirds of the eye's width; the mesh has them nearer to its outer end.
  move(37, 38, 0.25F), move(44, 43, 0.25F), move(38, 39, 0.12F), move(43, 42, 0.12F);
  move(41, 40, 0.2F), move(46, 47, 0.2F);
  // The lips' points are nearer to the middle than the mesh has them.
  move(61, 62, 0.36F), move(63, 62, 0.36F), move(67, 66, 0.36F), move(65, 66, 0.36F);
  move(58, 57, 0.35F), move(56, 57, 0.35F), move(49, 50, 0.25F), move(53, 52, 0.25F);
  move(59, 58, 0.22F), move(55, 56, 0.22F), move(60, 61, 0.05F), move(64, 63, 0.05F);
  // The upper lip's edge is a little inside of where the mesh has it.
  move(49, 61, kLipEdge), move(51, 62, kLipEdge), move(53, 63, kLipEdge);
  for (const std::size_t k : {50, 52})  // and these two are nearer to the middle
    fixed_[k] = {{vertex[k], vertex[51], vertex[62]}, {1 - kLipEdge, 0, kLipEdge}};
  // Along the skin, in centimetres down: lids are labelled at their lashes, not at the inner rim,
  // and the eyes' corners where these meet; the lower lip where its shadow begins; the wings of the
  // nose where they end, and the nostrils, above its base.
  const auto slide = [&](std::size_t k, float down) {
    const Eigen::Vector2f place = Layout::place(fixed_[k].at(head.neutral));
    fixed_[k] = layout.skin_at(place.x(), place.y() + down * Layout::kPerCm);
  };
  for (const std::size_t k : {37, 38, 43, 44}) slide(k, -0.07F);
  for (const std::size_t k : {36, 39, 42, 45}) slide(k, 0.04F);
  for (const std::size_t k : {40, 41, 46, 47}) slide(k, 0.1F);
  for (std::size_t k = 55; k <= 59; ++k) slide(k, 0.1F);
  for (const std::size_t k : {31, 35}) slide(k, -0.22F);
  for (const std::size_t k : {32, 34}) slide(k, -0.15F);
  // The ridge's points go evenly from between the eyes to the tip's lower half.
  const SurfacePoint tip{{vertex[27], vertex[30], vertex[33]}, {0, 0.9F, 0.1F}};
  fixed_[30] = tip;
  for (const int k : {1, 2}) {
    const float share = float(k) / 3;
    fixed_[std::size_t(27 + k)] = {tip.vertices, {1 - share, 0.9F * share, 0.1F * share}};
  }

  // Seen from the front, meridians go out from between the eyes. The contour begins between the
  // heights of the eyes' corners and the lower lids, nearer to these.
  const auto at = [&](int landmark) -> Eigen::Vector3f {
    return head.neutral.col(vertex[std::size_t(landmark)]);
  };
  float height = 0;
  for (const std::size_t k : {36, 41, 41, 45, 46, 46}) height += fixed_[k].at(head.neutral).y() / 6;
  std::vector<std::pair<float, float>> radius, depth;  // of the jaw by its angle, -pi to 0
  for (int k = 0; k < 17; ++k) {
    const Eigen::Vector3f p = at(k);
    const float angle = std::min(0.0F, std::atan2(p.y() - height, p.x()));
    const float grown = p.x() < 0 && angle > -0.1F ? -kPi : angle;
    radius.emplace_back(grown, std::hypot(p.x(), p.y() - height));
    depth.emplace_back(grown, p.z());
  }
  std::set<std::pair<int, int>> edges;
  for (std::size_t i = 0; i < head.triangles.size(); ++i) {
    if (head.parts[i] != Part::skin) continue;
    const Triangle& t = head.triangles[i];
    for (std::size_t k = 0; k < 3; ++k) edges.insert(std::minmax(t[k], t[(k + 1) % 3]));
  }
  for (int i = 0; i < kMeridians; ++i) {
    const float angle = -kPi + kPi * float(i) / (kMeridians - 1);
    Meridian meridian{std::cos(angle), std::sin(angle), {}};
    // Low on the face the jaw turns under and the neck begins; high on it, the ear.
    const bool low = meridian.sine < -0.6F;
    const float line = interpolate(radius, angle), back = interpolate(depth, angle);
    for (const auto& [a, b] : edges) {
      const Eigen::Vector3f p = head.neutral.col(a), q = head.neutral.col(b);
      const auto beside = [&](const Eigen::Vector3f& r) {
        return meridian.cosine * (r.y() - height) - meridian.sine * r.x();
      };
      const float sp = beside(p), sq = beside(q);
      if ((sp > 0) == (sq > 0)) continue;
      const float share = sp / (sp - sq);
      const Eigen::Vector3f r = p + share * (q - p);
      const float out = meridian.cosine * r.x() + meridian.sine * (r.y() - height);
      if (out < 0.5F * line || out > line + (low ? 1.2F : 0.3F) || r.z() < back - 1.8F) continue;
      meridian.points.push_back(between(a, b, share));
    }
    if (!meridian.points.empty())
      meridians_.push_back(std::move(meridian));
    else
      meridians_.push_back(
          {meridian.cosine,
           meridian.sine,
           {between(vertex[std::size_t(i * 16 / (kMeridians - 1))], vertex[8], 0)}});
  }
}

std::array<Eigen::Vector3f, 68> Landmarks::place(const Points& points, const Camera& camera,
                                                 float roll, const BrowPoints& brows) const {
  std::array<Eigen::Vector3f, 68> placed;
  for (std::size_t k = 17; k < 68; ++k) placed[k] = (k < 27 ? brows[k - 17] : fixed_[k]).at(points);
  // The visible contour: on each meridian what is farthest out in the picture.
  std::array<Eigen::Vector3f, kMeridians> contour;
  std::array<Eigen::Vector2f, kMeridians> seen;
  const float c = std::cos(roll), s = std::sin(roll);
  for (std::size_t i = 0; i < meridians_.size(); ++i) {
    const Meridian& meridian = meridians_[i];
    const float outward_x = c * meridian.cosine - s * meridian.sine;
    const float outward_y = -(s * meridian.cosine + c * meridian.sine);  // the picture's y is down
    float farthest = -std::numeric_limits<float>::infinity();
    for (const SurfacePoint& place : meridian.points) {
      const Eigen::Vector3f point = place.at(points);
      const Eigen::Vector3f projected = camera.project(point);
      const float out = outward_x * projected.x() + outward_y * projected.y();
      if (out > farthest) farthest = out, contour[i] = point, seen[i] = projected.head<2>();
    }
  }
  // Evenly along it, from either end to the chin, whose point lies further on the way that the chin
  // has gone past the eyes as the head turned.
  std::vector<std::pair<float, float>> passed{{0, 0}};  // meridians, by the contour's length
  for (std::size_t i = 1; i < kMeridians; ++i)
    passed.emplace_back(passed.back().first + (seen[i] - seen[i - 1]).norm(), float(i));
  const Eigen::Vector2f eyes =
      0.5F * (camera.project(placed[36]) + camera.project(placed[45])).head<2>();
  const float aside = (seen[kChin] - eyes).dot(Eigen::Vector2f(c, -s));
  const float length = passed.back().first;
  const float chin =
      std::clamp(passed[kChin].first + kChinSlide * aside, 0.25F * length, 0.75F * length);
  for (std::size_t k = 0; k < 17; ++k) {
    const float share = float(k) / 8;
    const float there = k <= 8 ? share * chin : chin + (share - 1) * (length - chin);
    const float place = interpolate(passed, there);
    const auto before = std::size_t(std::min(int(place), kMeridians - 2));
    placed[k] = contour[before] + (place - float(before)) * (contour[before + 1] - contour[before]);
  }
  return placed;
}

}  // namespace sdm::render
