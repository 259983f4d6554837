#include "adapters/opencv/draw.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

namespace sdm::opencv {

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
  const double size = std::max(0.4, bgr.rows / 900.0);
  const cv::Point at(8, int(30 * size) + 4);
  for (const bool shadow : {true, false})
    cv::putText(bgr, text, at, cv::FONT_HERSHEY_SIMPLEX, size,
                shadow ? cv::Scalar::all(0) : cv::Scalar::all(255), shadow ? 3 : 1, cv::LINE_AA);
}

}  // namespace sdm::opencv
