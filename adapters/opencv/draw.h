#pragma once

#include <opencv2/core.hpp>
#include <string>

#include "sdm/rigid/region.h"

namespace sdm::opencv {

/// Draws the outline with a mark at its first corner, so that turns can be seen.
void draw_quad(cv::Mat& bgr, const rigid::Quad& quad, const cv::Scalar& colour);

/// A line of text at the top left, readable on any background.
void draw_caption(cv::Mat& bgr, const std::string& text);

}  // namespace sdm::opencv
