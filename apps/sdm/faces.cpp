#include "apps/sdm/faces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "adapters/opencv/draw.h"
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
