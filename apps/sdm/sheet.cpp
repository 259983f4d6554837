#include "apps/sdm/sheet.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "sdm/opencv/draw.h"
#include "sdm/opencv/image.h"

namespace sdm::app {

cv::Mat contact_sheet(const std::vector<SheetFace>& faces) {
  const int tile = 240, columns = std::clamp(int(std::ceil(std::sqrt(double(faces.size())))), 1, 6);
  const int rows = std::max(1, (int(faces.size()) + columns - 1) / columns);
  cv::Mat sheet(rows * tile, columns * tile, CV_8UC3, cv::Scalar::all(255));
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const SheetFace& face = faces[i];
    cv::Mat cell = sheet(cv::Rect(int(i) % columns * tile, int(i) / columns * tile, tile, tile));
    opencv::face_tile(opencv::read_colour(face.picture), face.truth, face.predicted, tile)
        .copyTo(cell);
    for (const auto& [colour, width] : {std::pair(0, 3), std::pair(255, 1)})
      cv::putText(cell, face.caption, {6, tile - 8}, cv::FONT_HERSHEY_SIMPLEX, 0.42,
                  cv::Scalar::all(colour), width, cv::LINE_AA);
  }
  return sheet;
}

}  // namespace sdm::app
