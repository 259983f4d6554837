#include "sdm/opencv/detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>
#include <tuple>

#include "sdm/base/error.h"
#include "sdm/opencv/image.h"

namespace sdm::opencv {
namespace {

std::filesystem::path find_cascade(const std::string& file, const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  const char* from_environment = std::getenv("SDM_CASCADES");
  if (!folder.empty()) {
    folders = {folder};
  } else if (from_environment != nullptr) {
    folders = {from_environment};
  } else {
    for (const char* root : {"/usr/share", "/usr/local/share", "/opt/homebrew/share"})
      for (const char* version : {"opencv4", "opencv"})
        folders.push_back(std::filesystem::path(root) / version / "haarcascades");
  }
  std::string looked;
  for (const auto& candidate : folders) {
    if (std::filesystem::exists(candidate / file)) return candidate / file;
    looked += (looked.empty() ? "" : ", ") + candidate.string();
  }
  throw Error(
      fmt::format("the cascade {} is not in {} (Debian: opencv-data; or name its folder in "
                  "SDM_CASCADES)",
                  file, looked));
}

std::filesystem::path cascade_file(const std::string& name, const std::filesystem::path& folder) {
  if (name == "haar_alt2") return find_cascade("haarcascade_frontalface_alt2.xml", folder);
  if (name == "haar_default") return find_cascade("haarcascade_frontalface_default.xml", folder);
  if (name.ends_with(".xml")) return name;
  throw Error(fmt::format(
      "the detector '{}', expected haar_alt2, haar_default or a cascade file (.xml)", name));
}

std::shared_ptr<cv::CascadeClassifier> load(const std::filesystem::path& path) {
  auto cascade = std::make_shared<cv::CascadeClassifier>();
  bool loaded = false;
  try {
    loaded = std::filesystem::is_regular_file(path) && cascade->load(path.string());
  } catch (const cv::Exception&) {  // not XML
  }
  if (!loaded) throw Error(fmt::format("{}: not a detector cascade of OpenCV", path.string()));
  return cascade;
}

}  // namespace

void DetectorOptions::validate() const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error("detector: " + message);
  };
  require(scale_step > 1, fmt::format("the scale step is {}, expected above 1", scale_step));
  require(neighbours >= 0, fmt::format("{} neighbours, expected 0 or more", neighbours));
  require(min_size >= 0, fmt::format("the least size is {} px, expected 0 or more", min_size));
  require(max_side >= 1, fmt::format("the longest side is {} px, expected 1 or more", max_side));
}

face::BoxDetector make_detector(const std::string& name, const DetectorOptions& options) {
  options.validate();
  const auto cascade = load(cascade_file(name, options.folder));
  return [cascade, options](image::ByteView grey) {
    cv::Mat picture = mat(grey);
    const float shrink =
        std::max(1.F, float(std::max(grey.width, grey.height)) / float(options.max_side));
    std::vector<face::Box> boxes;
    // OpenCV does not shrink a side to less than a pixel, and there is no face so small.
    if (float(std::min(grey.width, grey.height)) < shrink) return boxes;
    if (shrink > 1) cv::resize(picture, picture, {}, 1 / shrink, 1 / shrink, cv::INTER_AREA);
    std::vector<cv::Rect> found;
    cascade->detectMultiScale(picture, found, options.scale_step, options.neighbours, 0,
                              {options.min_size, options.min_size});
    std::sort(found.begin(), found.end(), [](const cv::Rect& a, const cv::Rect& b) {
      return std::tuple(-a.area(), a.x, a.y) < std::tuple(-b.area(), b.x, b.y);
    });
    for (const cv::Rect& r : found)
      boxes.push_back({float(r.x) * shrink, float(r.y) * shrink, float(r.width) * shrink,
                       float(r.height) * shrink});
    return boxes;
  };
}

}  // namespace sdm::opencv
