#include "sdm/opencv/detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>
#if __has_include(<opencv2/objdetect/face.hpp>)
#include <opencv2/objdetect/face.hpp>
#define SDM_OPENCV_YUNET 1
#endif
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
  throw Error(
      fmt::format("the detector '{}', expected haar_alt2, haar_default, a cascade file (.xml) or a "
                  "YuNet network "
                  "(.onnx)",
                  name));
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

// Larger first, so that the order does not depend on the detector.
void sort_boxes(std::vector<face::Box>& boxes) {
  std::sort(boxes.begin(), boxes.end(), [](const face::Box& a, const face::Box& b) {
    return std::tuple(-a.width * a.height, a.x, a.y) < std::tuple(-b.width * b.height, b.x, b.y);
  });
}

// The picture shrunk to a bounded side, and by how much. Empty where a side would be less than a
// pixel: there is no face so small.
std::pair<cv::Mat, float> bounded(image::ByteView grey, int max_side) {
  cv::Mat picture = mat(grey);
  const float shrink = std::max(1.F, float(std::max(grey.width, grey.height)) / float(max_side));
  if (float(std::min(grey.width, grey.height)) < shrink) return {cv::Mat(), shrink};
  if (shrink > 1) cv::resize(picture, picture, {}, 1 / shrink, 1 / shrink, cv::INTER_AREA);
  return {picture, shrink};
}

#ifdef SDM_OPENCV_YUNET
face::BoxDetector yunet(const std::filesystem::path& path, const DetectorOptions& options) {
  constexpr float kConfidence = 0.5F, kOverlap = 0.3F;
  if (!std::filesystem::is_regular_file(path))
    throw Error(fmt::format("{}: no such file", path.string()));
  cv::Ptr<cv::FaceDetectorYN> network;
  try {
    network = cv::FaceDetectorYN::create(path.string(), "", {320, 320}, kConfidence, kOverlap);
  } catch (const cv::Exception& error) {
    throw Error(
        fmt::format("{}: not a YuNet network that OpenCV can run: {}", path.string(), error.err));
  }
  return [network, options, path](image::ByteView grey) {
    std::vector<face::Box> boxes;
    const auto [picture, shrink] = bounded(grey, options.max_side);
    if (picture.empty()) return boxes;
    cv::Mat colour, found;
    cv::cvtColor(picture, colour, cv::COLOR_GRAY2BGR);
    try {
      network->setInputSize(colour.size());
      network->detect(colour, found);
    } catch (const cv::Exception& error) {
      throw Error(fmt::format("{}: OpenCV cannot run it: {}", path.string(), error.err));
    }
    // A row a face: its box, five points, its confidence.
    for (int i = 0; i < found.rows && found.cols >= 4; ++i) {
      const float* row = found.ptr<float>(i);
      if (row[2] >= float(options.min_size))
        boxes.push_back({row[0] * shrink, row[1] * shrink, row[2] * shrink, row[3] * shrink});
    }
    sort_boxes(boxes);
    return boxes;
  };
}
#else
face::BoxDetector yunet(const std::filesystem::path& path, const DetectorOptions&) {
  throw Error(fmt::format("{}: this OpenCV is too old for YuNet networks, expected 4.5.4 or later",
                          path.string()));
}
#endif

}  // namespace

face::BoxConvention yunet_convention() {
  return {"yunet", 0.6214F, 0.0125F, 0.1810F, 0.1366F, 0.0582F, 0.0614F};
}

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
  if (name.ends_with(".onnx")) return yunet(name, options);
  const auto cascade = load(cascade_file(name, options.folder));
  return [cascade, options](image::ByteView grey) {
    std::vector<face::Box> boxes;
    const auto [picture, shrink] = bounded(grey, options.max_side);
    if (picture.empty()) return boxes;
    std::vector<cv::Rect> found;
    cascade->detectMultiScale(picture, found, options.scale_step, options.neighbours, 0,
                              {options.min_size, options.min_size});
    for (const cv::Rect& r : found)
      boxes.push_back({float(r.x) * shrink, float(r.y) * shrink, float(r.width) * shrink,
                       float(r.height) * shrink});
    sort_boxes(boxes);
    return boxes;
  };
}

}  // namespace sdm::opencv
