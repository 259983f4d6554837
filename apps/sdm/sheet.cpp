#include "apps/sdm/sheet.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "sdm/opencv/draw.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

// `draw` makes the square picture of one face.
template <class Draw>
cv::Mat sheet_of(const std::vector<SheetFace>& faces, int tile, const Draw& draw) {
  const int columns = std::clamp(int(std::ceil(std::sqrt(double(faces.size())))), 1, 1440 / tile);
  const int rows = std::max(1, (int(faces.size()) + columns - 1) / columns);
  cv::Mat sheet(rows * tile, columns * tile, CV_8UC3, cv::Scalar::all(255));
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const SheetFace& face = faces[i];
    cv::Mat cell = sheet(cv::Rect(int(i) % columns * tile, int(i) / columns * tile, tile, tile));
    draw(face).copyTo(cell);
    for (const auto& [colour, width] : {std::pair(0, 3), std::pair(255, 1)})
      cv::putText(cell, face.caption, {6, tile - 8}, cv::FONT_HERSHEY_SIMPLEX, 0.42,
                  cv::Scalar::all(colour), width, cv::LINE_AA);
  }
  return sheet;
}

// The face fills the tile, so that numbers find their place.
cv::Mat numbered_tile(const SheetFace& face, int tile) {
  const Eigen::AlignedBox2f around = face::bounds(face.truth);
  const float scale = 0.8F * float(tile) / std::max(1.0F, around.sizes().maxCoeff());
  const Eigen::Vector2f offset =
      Eigen::Vector2f::Constant(0.5F * float(tile)) - scale * around.center();
  const auto moved = [&](const face::Shape& points) {
    return face::Shape((scale * points).colwise() + offset);
  };
  cv::Mat result;
  const cv::Matx23f warp(scale, 0, offset.x(), 0, scale, offset.y());
  cv::warpAffine(opencv::read_colour(face.picture), result, warp, {tile, tile}, cv::INTER_LINEAR,
                 cv::BORDER_CONSTANT, cv::Scalar::all(128));
  const face::Shape truth = moved(face.truth);
  opencv::draw_points(result, truth, {60, 200, 60}, 3);
  opencv::draw_points(result, moved(face.predicted), {60, 60, 230}, 3);
  for (Eigen::Index p = 0; p < truth.cols(); ++p)
    if (truth.col(p).allFinite())
      opencv::draw_text(result, std::to_string(p), {int(truth(0, p)) + 5, int(truth(1, p)) - 5});
  return result;
}

}  // namespace

cv::Mat contact_sheet(const std::vector<SheetFace>& faces) {
  constexpr int kTile = 240;
  return sheet_of(faces, kTile, [](const SheetFace& face) {
    return opencv::face_tile(opencv::read_colour(face.picture), face.truth, face.predicted, kTile);
  });
}

cv::Mat numbered_sheet(const std::vector<SheetFace>& faces) {
  constexpr int kTile = 480;
  return sheet_of(faces, kTile, [](const SheetFace& face) { return numbered_tile(face, kTile); });
}

}  // namespace sdm::app
