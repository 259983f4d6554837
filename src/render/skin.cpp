#include "render/skin.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

#include "render/obj.h"
#include "sdm/base/error.h"

namespace sdm::render {
namespace {

// Both heads seen from the front, 26 cm over 1000 pixels.
constexpr int kSide = 1000;
constexpr Camera kFront{kSide / 26.0F * 500, 500, 499.5F, 499.5F};
constexpr float kScale = 7;          // from MakeHuman's decimetres to a head as large as ours
constexpr float kHeadHeight = 3.2F;  // from the top, decimetres

// The same places of both heads in these pictures, less (200, 100): ours, then MakeHuman's. On the
// left; those on the right are their mirror images about 300.
using Pair = std::array<int, 4>;
constexpr std::array<Pair, 29> kPairs = {
    {{125, 265, 170, 306}, {228, 272, 253, 312}, {148, 247, 193, 296}, {190, 244, 233, 297},
     {148, 281, 195, 319}, {193, 281, 235, 319}, {170, 225, 213, 284}, {170, 300, 213, 335},
     {228, 425, 256, 408}, {268, 430, 276, 424}, {201, 538, 231, 488}, {234, 508, 256, 478},
     {272, 494, 283, 470}, {230, 562, 255, 502}, {260, 573, 275, 509}, {240, 533, 262, 490},
     {92, 610, 182, 535},  {140, 655, 205, 575}, {40, 460, 122, 425},  {20, 330, 112, 350},
     {70, 400, 150, 395},  {40, 180, 112, 250},  {150, 150, 195, 245}, {60, 60, 130, 150},
     {200, 30, 240, 130},  {230, 686, 263, 596}, {255, 350, 270, 365}, {265, 280, 275, 315},
     {130, 500, 180, 460}}};
constexpr std::array<Pair, 12> kMiddlePairs = {{{300, 383, 300, 393},
                                                {300, 447, 300, 430},
                                                {300, 497, 300, 473},
                                                {300, 531, 300, 490},
                                                {300, 574, 300, 511},
                                                {300, 620, 300, 540},
                                                {300, 720, 300, 604},
                                                {300, 252, 300, 300},
                                                {300, 160, 300, 245},
                                                {300, 20, 300, 125},
                                                {300, 320, 300, 345},
                                                {300, 785, 300, 690}}};

Raster seen_from_front(const Points& points, const std::vector<Triangle>& triangles) {
  Points projected(3, points.cols());
  for (Index i = 0; i < points.cols(); ++i) projected.col(i) = kFront.project(points.col(i));
  Raster raster(kSide, kSide);
  raster.draw(projected, triangles, true);
  return raster;
}

// The surface's place at a pixel; false: there is none.
bool place_at(const Raster& raster, int x, int y, Eigen::Vector3f& place) {
  const float depth = raster.at(x + 200, y + 100).depth;
  if (!std::isfinite(depth)) return false;
  place << (float(x + 200) - kFront.cx) * depth / kFront.focal,
      -(float(y + 100) - kFront.cy) * depth / kFront.focal, kFront.distance - depth;
  return true;
}

// A spline in space: affine, plus the distances to its knots.
class Spline {
 public:
  Spline(const std::vector<Eigen::Vector3f>& from, const std::vector<Eigen::Vector3f>& to)
      : knots_(from) {
    const Index n = Index(from.size());
    Eigen::MatrixXd system = Eigen::MatrixXd::Zero(n + 4, n + 4),
                    right = Eigen::MatrixXd::Zero(n + 4, 3);
    for (Index i = 0; i < n; ++i) {
      const Eigen::Vector3f& p = from[std::size_t(i)];
      for (Index j = 0; j < n; ++j) system(i, j) = double((p - from[std::size_t(j)]).norm());
      system(i, i) = -0.05;  // pairs made by eye need not be met exactly
      system.row(i).tail(4) << 1, double(p.x()), double(p.y()), double(p.z());
      system.col(i).tail(4) = system.row(i).tail(4).transpose();
      right.row(i) = to[std::size_t(i)].cast<double>();
    }
    weights_ = system.fullPivLu().solve(right).cast<float>();
  }
  Eigen::Vector3f operator()(const Eigen::Vector3f& p) const {
    const Index n = Index(knots_.size());
    Eigen::Vector3f sum =
        weights_.row(n).transpose() + weights_.middleRows(n + 1, 3).transpose() * p;
    for (Index i = 0; i < n; ++i)
      sum += weights_.row(i).transpose() * (p - knots_[std::size_t(i)]).norm();
    return sum;
  }

 private:
  std::vector<Eigen::Vector3f> knots_;
  Eigen::MatrixX3f weights_;
};

// The head of the whole body, about the middle of its vertices, in centimetres.
Obj head_of(const std::filesystem::path& path) {
  Obj body = read_obj(path), head;
  const float top = body.vertices.row(1).maxCoeff();
  std::vector<bool> used(std::size_t(body.vertices.cols()), false);
  for (std::size_t i = 0; i < body.triangles.size(); ++i) {
    const Triangle& t = body.triangles[i];
    const bool skin = body.group[i] >= 0 && body.names[std::size_t(body.group[i])] == "body";
    const float y = (body.vertices(1, t[0]) + body.vertices(1, t[1]) + body.vertices(1, t[2])) / 3;
    if (!skin || y < top - kHeadHeight) continue;
    for (const int corner : body.corners[i])
      if (corner < 0) throw Error(path.string() + ": a face without texture coordinates");
    head.triangles.push_back(t);
    head.corners.push_back(body.corners[i]);
    for (const int vertex : t) used[std::size_t(vertex)] = true;
  }
  if (head.triangles.empty())
    throw Error(path.string() + ": no faces of the group 'body', expected MakeHuman's base mesh");
  Eigen::Vector3f middle = Eigen::Vector3f::Zero();
  float count = 0;
  for (Index i = 0; i < body.vertices.cols(); ++i)
    if (used[std::size_t(i)]) middle += body.vertices.col(i), ++count;
  head.vertices = kScale * (body.vertices.colwise() - middle / count);
  head.texture = std::move(body.texture);
  return head;
}

// The pixel at a share of the side, off the edges.
int pixel_at(float share, int side) {
  return std::clamp(int(std::clamp(share, 0.0F, 1.0F) * float(side)), 1, side - 2);
}

}  // namespace

SkinMap map_skin(const std::filesystem::path& mesh, const HeadModel& head) {
  const Obj human = head_of(mesh);
  std::vector<Triangle> outside;
  for (std::size_t i = 0; i < head.triangles.size(); ++i)
    if (head.parts[i] == Part::skin || head.parts[i] == Part::back)
      outside.push_back(head.triangles[i]);
  const Raster ours = seen_from_front(head.neutral, outside),
               theirs = seen_from_front(human.vertices, human.triangles);
  std::vector<Eigen::Vector3f> from, to;
  const auto pair = [&](int x, int y, int human_x, int human_y) {
    Eigen::Vector3f place, human_place;
    if (place_at(ours, x, y, place) && place_at(theirs, human_x, human_y, human_place))
      from.push_back(human_place), to.push_back(place);
  };
  for (const Pair& p : kPairs) {
    pair(p[0], p[1], p[2], p[3]);
    pair(600 - p[0], p[1], 600 - p[2], p[3]);
  }
  for (const Pair& p : kMiddlePairs) pair(p[0], p[1], p[2], p[3]);
  if (from.size() < 8) throw Error(mesh.string() + ": its head does not lie on ours");
  const Spline bend(from, to);
  Points unrolled(3, human.vertices.cols());
  std::vector<bool> done(std::size_t(human.vertices.cols()), false);
  std::vector<Triangle> triangles, corners;
  for (std::size_t i = 0; i < human.triangles.size(); ++i) {
    const Triangle& t = human.triangles[i];
    for (const int vertex : t) {
      if (done[std::size_t(vertex)]) continue;
      done[std::size_t(vertex)] = true;
      const Eigen::Vector3f p = bend(human.vertices.col(vertex));
      unrolled.col(vertex) << Layout::place(p), -std::hypot(p.x(), p.z() - Layout::kAxis);
    }
    const auto [left, right] =
        std::minmax({unrolled(0, t[0]), unrolled(0, t[1]), unrolled(0, t[2])});
    if (right - left > float(Layout::kWidth) / 4) continue;  // across the seam
    triangles.push_back(t);
    corners.push_back(human.corners[i]);
  }
  Raster raster(Layout::kWidth, Layout::kHeight);
  raster.draw(unrolled, triangles, false);
  SkinMap map;
  for (int y = 0; y < Layout::kHeight; ++y)
    for (int x = 0; x < Layout::kWidth; ++x) {
      const Fragment& f = raster.at(x, y);
      if (f.triangle < 0) continue;
      const Triangle& c = corners[std::size_t(f.triangle)];
      const Eigen::Vector2f place = (1 - f.second - f.third) * human.texture.col(c[0]) +
                                    f.second * human.texture.col(c[1]) +
                                    f.third * human.texture.col(c[2]);
      map.u(x, y) = place.x(), map.v(x, y) = place.y();
    }
  return map;
}

Field carry_skin(image::ByteView texture, const SkinMap& map, const Layout& layout) {
  Field skin(Layout::kWidth, Layout::kHeight, 1);
  double sum = 0, count = 0;
  for (int y = 0; y < Layout::kHeight; ++y)
    for (int x = 0; x < Layout::kWidth; ++x) {
      if (map.u(x, y) < 0) continue;
      const int u = pixel_at(map.u(x, y), texture.width);
      const int v = pixel_at(1 - map.v(x, y), texture.height);
      float mean = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) mean += float(texture(u + dx, v + dy)) / 9;
      const float linear = std::pow(mean / 255, 2.2F);
      skin(x, y) = linear;
      if (layout.covered(x, y) > 0 && layout.z(x, y) > 6 && layout.y(x, y) > -7)
        sum += double(linear), ++count;
    }
  const auto scale = float(sum > 0 ? count / sum : 1);
  for (int y = 0; y < Layout::kHeight; ++y)
    for (int x = 0; x < Layout::kWidth; ++x) {
      if (map.u(x, y) < 0) continue;
      // Holes and seams of the other head are no marks on the skin.
      skin(x, y) = std::clamp(skin(x, y) * scale, 0.25F, 1.8F);
    }
  return skin;
}

}  // namespace sdm::render
