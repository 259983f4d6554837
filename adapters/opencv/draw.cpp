#include "sdm/opencv/draw.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace sdm::opencv {
namespace {

double text_size(const cv::Mat& bgr) { return std::max(0.4, bgr.rows / 900.0); }

// The square about the points, with some room.
cv::Rect2d surroundings(const face::Shape& points) {
  const Eigen::AlignedBox2d around = face::bounds(points).cast<double>();
  const double side = std::max(1.0, 1.5 * around.sizes().maxCoeff());
  // Without any point the corners cancel out.
  const Eigen::Vector2d centre = (around.min() + around.max()) / 2;
  return {centre.x() - side / 2, centre.y() - side / 2, side, side};
}

face::Shape into(const face::Shape& points, const cv::Rect2d& area, double scale) {
  face::Shape moved = points;
  moved.row(0).array() = (moved.row(0).array() - float(area.x)) * float(scale);
  moved.row(1).array() = (moved.row(1).array() - float(area.y)) * float(scale);
  return moved;
}

}  // namespace

void draw_quad(cv::Mat& bgr, const rigid::Quad& quad, const cv::Scalar& colour) {
  if (!quad.allFinite()) return;
  // A sixteenth of a pixel; far corners are clamped where the line routine still counts right.
  constexpr int kShift = 4;
  const auto point = [&](int i) {
    const auto fixed = [](double v) { return int(std::clamp(v, -1e5, 1e5) * (1 << kShift)); };
    return cv::Point(fixed(quad(0, i)), fixed(quad(1, i)));
  };
  for (int i = 0; i < 4; ++i)
    cv::line(bgr, point(i), point((i + 1) % 4), colour, 2, cv::LINE_AA, kShift);
  cv::circle(bgr, point(0), 4 << kShift, colour, cv::FILLED, cv::LINE_AA, kShift);
}

void draw_caption(cv::Mat& bgr, const std::string& text) {
  draw_text(bgr, text, {8, int(30 * text_size(bgr)) + 4});
}

void draw_text(cv::Mat& bgr, const std::string& text, const cv::Point& at) {
  for (const bool shadow : {true, false})
    cv::putText(bgr, text, at, cv::FONT_HERSHEY_SIMPLEX, text_size(bgr),
                shadow ? cv::Scalar::all(0) : cv::Scalar::all(255), shadow ? 3 : 1, cv::LINE_AA);
}

void draw_axes(cv::Mat& bgr, const pose::HeadPose& pose) {
  const auto can_be_drawn = [](const Eigen::Vector2d& at) {
    return at.allFinite() && at.cwiseAbs().maxCoeff() <= 1e5;
  };
  if (!can_be_drawn(pose.position)) return;
  const Eigen::Matrix3d axes = pose.rotation.toRotationMatrix();
  const cv::Point from(int(pose.position.x()), int(pose.position.y()));
  const cv::Scalar colours[] = {{60, 60, 255}, {60, 255, 60}, {255, 120, 0}};
  for (int i = 0; i < 3; ++i) {
    // The third axis goes away from the camera; the nose points the other way.
    const Eigen::Vector2d to =
        pose.position + (i == 2 ? -1 : 1) * pose.scale * axes.col(i).head<2>();
    if (!can_be_drawn(to)) continue;
    cv::line(bgr, from, {int(to.x()), int(to.y())}, colours[i], 2, cv::LINE_AA);
  }
}

void draw_points(cv::Mat& bgr, const face::Shape& points, const cv::Scalar& colour, double radius,
                 const Vector<float>& visible) {
  const int shift = 4;  // sixteenths of a pixel
  const int fixed = int(std::lround(std::max(1.0, radius) * (1 << shift)));
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    const Eigen::Vector2f p = points.col(i);
    if (!p.allFinite() || p.cwiseAbs().maxCoeff() > 1e6F) continue;
    const cv::Point centre(int(std::lround(p.x() * (1 << shift))),
                           int(std::lround(p.y() * (1 << shift))));
    const bool hollow = visible.size() > 0 && visible[i] < 0.5F;
    cv::circle(bgr, centre, hollow ? 3 * fixed / 2 : fixed, colour, hollow ? 1 : cv::FILLED,
               cv::LINE_AA, shift);
  }
}

cv::Mat face_tile(const cv::Mat& bgr, const face::Shape& truth, const face::Shape& predicted,
                  int side) {
  const cv::Rect2d area = surroundings(truth.cols() > 0 ? truth : predicted);
  const double scale = side / area.width;
  const cv::Matx23d map(scale, 0, -area.x * scale, 0, scale, -area.y * scale);
  cv::Mat tile;
  cv::warpAffine(bgr, tile, map, {side, side}, cv::INTER_LINEAR, cv::BORDER_REPLICATE);
  draw_points(tile, into(truth, area, scale), {0, 200, 0}, 2);
  draw_points(tile, into(predicted, area, scale), {40, 40, 255}, 2);
  return tile;
}

}  // namespace sdm::opencv
