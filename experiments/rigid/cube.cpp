#include "experiments/rigid/cube.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/file.h"

namespace sdm::experiments {
namespace {

constexpr double kSide = 0.084;  // m
constexpr double kInner = 0.85;  // of a face, so that the region shows the face alone
constexpr int kSearch = 8;       // px to either side of an edge
constexpr int kPasses = 8;
constexpr double kOutlier = 3;  // px
constexpr double kEnough = 0.6;
constexpr double kOblique = 65 * std::numbers::pi / 180;

// The package's model: corners, and the faces over them.
const std::array<Eigen::Vector3d, 8>& cube_corners() {
  static const std::array<Eigen::Vector3d, 8> corners = [] {
    std::array<Eigen::Vector3d, 8> c;
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t k = i % 4;
      c[i] = {k == 1 || k == 2 ? -kSide : 0, k >= 2 ? kSide : 0, i >= 4 ? kSide : 0};
    }
    return c;
  }();
  return corners;
}
constexpr std::array<std::array<std::size_t, 4>, 6> kFaces = {
    {{0, 4, 5, 1}, {1, 5, 6, 2}, {6, 7, 3, 2}, {3, 7, 4, 0}, {0, 1, 2, 3}, {7, 6, 5, 4}}};

Eigen::Vector3d middle_of(int face) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const std::size_t i : kFaces[std::size_t(face)]) sum += cube_corners()[i] / 4;
  return sum;
}

double number_after(const std::string& text, const std::string& tag,
                    const std::filesystem::path& file) {
  const std::size_t at = text.find(tag), end = text.find('<', at + 1);
  if (at == std::string::npos || end == std::string::npos)
    throw Error(fmt::format("{}: no {}", file.string(), tag));
  return to_number(text.substr(at + tag.size(), end - at - tag.size()));
}

float grey_at(const cv::Mat& image, const Eigen::Vector2d& at) {
  const double x = std::clamp(at.x(), 0.0, image.cols - 1.001);
  const double y = std::clamp(at.y(), 0.0, image.rows - 1.001);
  const int i = int(x), j = int(y);
  const float a = float(x - i), b = float(y - j);
  const float *top = image.ptr<float>(j) + i, *low = image.ptr<float>(j + 1) + i;
  return (1 - b) * ((1 - a) * top[0] + a * top[1]) + b * ((1 - a) * low[0] + a * low[1]);
}

/// How far along the normal the grey rises most; nothing where it hardly does.
std::optional<double> rise_along(const cv::Mat& smooth, const Eigen::Vector2d& at,
                                 const Eigen::Vector2d& normal) {
  constexpr float kLeastRise = 15;
  std::vector<float> grey(2 * kSearch + 3);
  for (int o = -kSearch - 1; o <= kSearch + 1; ++o)
    grey[std::size_t(o + kSearch + 1)] = grey_at(smooth, at + o * normal);
  const auto rise = [&](int o) {
    const auto i = std::size_t(o + kSearch + 1);
    return grey[i + 1] - grey[i - 1];
  };
  int best = 0;
  for (int o = -kSearch; o <= kSearch; ++o)
    if (rise(o) > rise(best)) best = o;
  if (rise(best) < kLeastRise || std::abs(best) == kSearch) return std::nullopt;
  const float before = rise(best - 1), here = rise(best), after = rise(best + 1);
  const float bend = before - 2 * here + after;
  return best + (bend < 0 ? double((before - after) / (2 * bend)) : 0);
}

}  // namespace

CubePose::CubePose(const std::filesystem::path& folder) {
  const std::filesystem::path camera = folder / "cube.xml", start = folder / "cube.0.pos";
  std::string xml, numbers;
  for (const std::string_view line : io::read_lines(camera).lines) xml += line;
  px_ = number_after(xml, "<px>", camera);
  py_ = number_after(xml, "<py>", camera);
  u0_ = number_after(xml, "<u0>", camera);
  v0_ = number_after(xml, "<v0>", camera);
  std::vector<double> p;
  const TextLines pose = io::read_lines(start);
  for (const std::string_view line : pose.lines)
    for (const double number : to_numbers(line, " \t")) p.push_back(number);
  if (p.size() != 6)
    throw Error(fmt::format("{}: {} numbers, expected 6 of a pose", start.string(), p.size()));
  const Eigen::Vector3d turn(p[3], p[4], p[5]);
  pose_.rotation = Eigen::AngleAxisd(turn.norm(), turn.normalized()).toRotationMatrix();
  pose_.translation = {p[0], p[1], p[2]};
}

Eigen::Vector2d CubePose::project(const Pose& pose, const Eigen::Vector3d& point) const {
  const Eigen::Vector3d seen = pose.rotation * point + pose.translation;
  return {u0_ + px_ * seen.x() / seen.z(), v0_ + py_ * seen.y() / seen.z()};
}

/// The cosine of the angle between the face's normal and the line of sight; below 0 from behind.
double CubePose::facing(const Pose& pose, int face) const {
  const Eigen::Vector3d middle = middle_of(face), centre(-kSide / 2, kSide / 2, kSide / 2);
  const Eigen::Vector3d normal = pose.rotation * (middle - centre).normalized();
  return -normal.dot((pose.rotation * middle + pose.translation).normalized());
}

bool CubePose::visible(int face) const { return facing(pose_, face) > std::cos(kOblique); }

std::vector<int> CubePose::visible_faces() const {
  std::vector<int> faces;
  for (int face = 0; face < int(kFaces.size()); ++face)
    if (visible(face)) faces.push_back(face);
  return faces;
}

rigid::Quad CubePose::region(int face) const {
  const Eigen::Vector3d middle = middle_of(face);
  rigid::Quad quad;
  for (std::size_t i = 0; i < 4; ++i)
    quad.col(Index(i)) =
        project(pose_, middle + kInner * (cube_corners()[kFaces[std::size_t(face)][i]] - middle));
  // The faces of the model go round either way.
  const Eigen::Vector2d a = quad.col(1) - quad.col(0), b = quad.col(2) - quad.col(1);
  if (a.x() * b.y() - a.y() * b.x() < 0) quad.col(1).swap(quad.col(3));
  return quad;
}

bool CubePose::update(const cv::Mat& grey) {
  cv::Mat smooth;
  grey.convertTo(smooth, CV_32F);
  cv::GaussianBlur(smooth, smooth, {}, 1);
  struct Mark {
    Eigen::Vector3d point;
    Eigen::Vector2d normal;
    double distance;
  };
  std::vector<Mark> marks;
  for (int pass = 0; pass < kPasses; ++pass) {
    marks.clear();
    Index searched = 0;
    for (int face = 0; face < int(kFaces.size()); ++face) {
      if (facing(pose_, face) <= 0) continue;
      const auto& ring = kFaces[std::size_t(face)];
      const Eigen::Vector2d inside = project(pose_, middle_of(face));
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t from = ring[i], to = ring[(i + 1) % 4];
        // On the outline only one of the two faces of an edge is seen.
        bool outline = true;
        for (int other = 0; other < int(kFaces.size()); ++other) {
          const auto& corners = kFaces[std::size_t(other)];
          const auto has = [&](std::size_t corner) {
            return std::find(corners.begin(), corners.end(), corner) != corners.end();
          };
          if (other != face && has(from) && has(to) && facing(pose_, other) > 0) outline = false;
        }
        if (!outline) continue;
        const Eigen::Vector3d a = cube_corners()[from], b = cube_corners()[to];
        const Eigen::Vector2d p = project(pose_, a), along = (project(pose_, b) - p).normalized();
        Eigen::Vector2d normal(-along.y(), along.x());
        if (normal.dot(inside - p) > 0) normal = -normal;
        constexpr int kPoints = 24;
        for (int k = 2; k < kPoints - 1; ++k) {
          const Eigen::Vector3d point = a + (b - a) * k / kPoints;
          ++searched;
          if (const auto found = rise_along(smooth, project(pose_, point), normal))
            marks.push_back({point, normal, *found});
        }
      }
    }
    if (marks.size() < 12) return false;
    // Six small steps: turn about the cube's own axes, shift.
    Eigen::Matrix<double, 6, 6> h = 1e-9 * Eigen::Matrix<double, 6, 6>::Identity();
    Eigen::Matrix<double, 6, 1> side = Eigen::Matrix<double, 6, 1>::Zero();
    const auto moved = [&](const Eigen::Matrix<double, 6, 1>& step) {
      const Eigen::Vector3d turn = step.head<3>();
      Pose pose = pose_;
      if (turn.norm() > 0)
        pose.rotation = pose_.rotation * Eigen::AngleAxisd(turn.norm(), turn.normalized());
      pose.translation += step.tail<3>();
      return pose;
    };
    const double limit = pass < kPasses / 2 ? kSearch : kOutlier;
    double squares = 0, close = 0;
    for (const Mark& mark : marks) {
      const double off = mark.distance / limit;
      if (std::abs(off) >= 1) continue;
      const double weight = (1 - off * off) * (1 - off * off);
      Eigen::Matrix<double, 6, 1> slope;
      for (int k = 0; k < 6; ++k) {
        Eigen::Matrix<double, 6, 1> step = Eigen::Matrix<double, 6, 1>::Zero();
        step[k] = 1e-6;
        slope[k] = mark.normal.dot(project(moved(step), mark.point) - project(pose_, mark.point)) /
                   step[k];
      }
      h += weight * slope * slope.transpose();
      side += weight * mark.distance * slope;
      squares += mark.distance * mark.distance;
      ++close;
    }
    residual_ = std::sqrt(squares / std::max(close, 1.0));
    found_ = close / double(std::max<Index>(searched, 1));
    pose_ = moved(h.ldlt().solve(side));
  }
  return found_ >= kEnough;
}

}  // namespace sdm::experiments
