#pragma once

#include <opencv2/core.hpp>
#include <string>

#include "sdm/face/shape.h"
#include "sdm/pose/head_pose.h"
#include "sdm/rigid/region.h"

namespace sdm::opencv {

/// Draws the outline with a mark at its first corner, so that turns can be seen.
void draw_quad(cv::Mat& bgr, const rigid::Quad& quad, const cv::Scalar& colour);

/// A line of text at the top left, readable on any background.
void draw_caption(cv::Mat& bgr, const std::string& text);

/// The same anywhere: `at` is its lower left corner.
void draw_text(cv::Mat& bgr, const std::string& text, const cv::Point& at);

/// The head's axes from its middle: right of the picture red, down green, out of the face blue.
void draw_axes(cv::Mat& bgr, const pose::HeadPose& pose);

/// Dots of this radius in pixels, at least 1, at fractions of a pixel. Points that are likelier not
/// seen (`visible` under a half; empty: all are) are drawn hollow.
void draw_points(cv::Mat& bgr, const face::Shape& points, const cv::Scalar& colour, double radius,
                 const Vector<float>& visible = {});

/// The face as a square picture: the truth green, the prediction red. Without a truth (no columns)
/// it is cut around the prediction.
cv::Mat face_tile(const cv::Mat& bgr, const face::Shape& truth, const face::Shape& predicted,
                  int side);

}  // namespace sdm::opencv
