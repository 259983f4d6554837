#include "apps/sdm/faces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "adapters/opencv/image.h"
#include "experiments/shipped_model.h"
#include "sdm/error.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

bool is_picture(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  for (const char* known : {".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".pgm",
                            ".ppm", ".jp2", ".exr", ".hdr"})
    if (extension == known) return true;
  return false;
}

// The square about the points, with some room.
cv::Rect2d surroundings(const face::Shape& points) {
  cv::Point2d low(1e9, 1e9), high(-1e9, -1e9);
  for (const auto& p : points.colwise()) {
    if (p.hasNaN()) continue;
    low = {std::min<double>(low.x, p.x()), std::min<double>(low.y, p.y())};
    high = {std::max<double>(high.x, p.x()), std::max<double>(high.y, p.y())};
  }
  const double side = std::max(1.0, 1.5 * std::max(high.x - low.x, high.y - low.y));
  const cv::Point2d centre = (low + high) / 2;
  return {centre.x - side / 2, centre.y - side / 2, side, side};
}

face::Shape into(const face::Shape& points, const cv::Rect2d& area, double scale) {
  face::Shape moved = points;
  moved.row(0).array() = (moved.row(0).array() - float(area.x)) * float(scale);
  moved.row(1).array() = (moved.row(1).array() - float(area.y)) * float(scale);
  return moved;
}

}  // namespace

face::Model load_face_model(const std::string& path) {
  return path.empty() ? experiments::shipped_face_model() : face::Model::load(path);
}

face::BoxConvention box_convention(const face::Model& model, const std::string& detector,
                                   const std::vector<float>& offset) {
  if (offset.empty()) return model.convention(detector);
  face::BoxConvention convention = model.convention();
  if (!detector.empty()) convention.detector = detector;
  convention.scale = offset[0];
  convention.dx = offset[1];
  convention.dy = offset[2];
  return convention;
}

std::vector<fs::path> list_pictures(const std::vector<std::string>& names) {
  std::vector<fs::path> pictures;
  for (const std::string& name : names) {
    if (!fs::is_directory(name)) {
      pictures.emplace_back(name);
      continue;
    }
    std::vector<fs::path> found;
    const auto options = fs::directory_options::skip_permission_denied;
    for (const auto& entry : fs::recursive_directory_iterator(name, options))
      if (entry.is_regular_file() && is_picture(entry.path())) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    pictures.insert(pictures.end(), found.begin(), found.end());
  }
  return pictures;
}

void draw_points(cv::Mat& bgr, const face::Shape& points, const cv::Scalar& colour, double size) {
  const int shift = 4;  // sixteenths of a pixel
  const int radius = int(std::lround(std::max(1.0, size) * (1 << shift)));
  for (const auto& p : points.colwise()) {
    if (!p.allFinite() || p.cwiseAbs().maxCoeff() > 1e6F) continue;
    const cv::Point centre(int(std::lround(p.x() * (1 << shift))),
                           int(std::lround(p.y() * (1 << shift))));
    cv::circle(bgr, centre, radius, colour, cv::FILLED, cv::LINE_AA, shift);
  }
}

cv::Mat contact_sheet(const std::vector<SheetFace>& faces) {
  const int tile = 240, columns = std::clamp(int(std::ceil(std::sqrt(double(faces.size())))), 1, 6);
  const int rows = std::max(1, (int(faces.size()) + columns - 1) / columns);
  cv::Mat sheet(rows * tile, columns * tile, CV_8UC3, cv::Scalar::all(255));
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const SheetFace& face = faces[i];
    const cv::Rect2d area = surroundings(face.truth);
    const double scale = tile / area.width;
    cv::Mat cell = sheet(cv::Rect(int(i) % columns * tile, int(i) / columns * tile, tile, tile));
    const cv::Matx23d map(scale, 0, -area.x * scale, 0, scale, -area.y * scale);
    cv::warpAffine(opencv::read_colour(face.picture), cell, map, cell.size(), cv::INTER_LINEAR,
                   cv::BORDER_REPLICATE);
    draw_points(cell, into(face.truth, area, scale), {0, 200, 0}, 2);
    draw_points(cell, into(face.predicted, area, scale), {40, 40, 255}, 2);
    for (const auto& [colour, width] : {std::pair(0, 3), std::pair(255, 1)})
      cv::putText(cell, face.caption, {6, tile - 8}, cv::FONT_HERSHEY_SIMPLEX, 0.42,
                  cv::Scalar::all(colour), width, cv::LINE_AA);
  }
  return sheet;
}

}  // namespace sdm::app
