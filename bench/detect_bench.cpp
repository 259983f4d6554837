// The time of finding the faces of a photograph, one core: our detector with and without its
// verification, Haar alt2 and dlib's HoG detector, in the same run. They take turns, photograph by
// photograph, so that whatever else the machine does falls on all alike; the figure is the median
// over photographs of the fastest of three.
//
//   detect_bench [YUNET.onnx]
//
// The photographs are those of ../shared/data (640 px) where it is, otherwise a made-up picture.
// All look for faces of 40 px and more; dlib, whose smallest face has 80 px, in the picture of
// twice the size.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <opencv2/core/utility.hpp>
#include <string>
#include <vector>

#include "sdm/face/data/annotations.h"
#include "sdm/face/detector.h"
#include "sdm/opencv/detector.h"
#include "sdm/opencv/image.h"

#if SDM_BENCH_DLIB
#include <dlib/image_processing/frontal_face_detector.h>
#include <dlib/image_transforms.h>
#endif

namespace {
using namespace sdm;
namespace fs = std::filesystem;
using Picture = image::Image<std::uint8_t>;

constexpr int kSmallest = 40;  // px

std::vector<Picture> photographs() {
  std::vector<Picture> pictures;
  const fs::path folder = fs::path(SDM_SHARED_DATA) / "photos";
  if (fs::exists(folder / "dev_landmarks.csv")) {
    const face::Annotations truth = face::read_csv(folder / "dev_landmarks.csv");
    for (std::size_t i = 0; i < truth.faces.size(); i += 4)
      pictures.push_back(opencv::read_grey(truth.path(truth.faces[i])));
  }
  if (pictures.empty()) {
    Picture& picture = pictures.emplace_back(640, 480);
    for (int y = 0; y < 480; ++y)
      for (int x = 0; x < 640; ++x)
        picture(x, y) = std::uint8_t(128 + 60 * std::sin(0.11 * x) * std::cos(0.07 * y) +
                                     40 * std::sin(0.003 * x * y));
  }
  return pictures;
}

struct Method {
  std::string name;
  std::function<std::size_t(const Picture& picture)> find;
  std::vector<double> milliseconds{};
  std::size_t found = 0;

  double median() const {
    std::vector<double> sorted = milliseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

}  // namespace

int main(int argc, char** argv) try {
  cv::setNumThreads(1);
  const fs::path models = SDM_SOURCE_MODELS;
  const auto detector = face::DetectorModel::load(models / "face-detector.sdm");
  const auto fast = face::Model::load(models / "face68-fast.sdm");
  face::DetectorOptions options;
  options.smallest = kSmallest;
  face::Detector ours(detector, fast, options), unverified(detector, options);
  opencv::DetectorOptions foreign;
  foreign.min_size = kSmallest;

  std::vector<Method> methods;
  methods.push_back({"sdm", [&](const Picture& one) { return ours.detect(one).size(); }});
  long candidates = 0, fits = 0;
  methods.push_back(
      {"sdm, templates alone", [&](const Picture& one) { return unverified.detect(one).size(); }});
  const face::BoxDetector haar = opencv::make_detector("haar_alt2", foreign);
  methods.push_back({"Haar alt2", [&](const Picture& one) { return haar(one).size(); }});
#if SDM_BENCH_DLIB
  auto hog = dlib::get_frontal_face_detector();
  methods.push_back({"dlib HoG, twice the size", [&](const Picture& one) {
                       dlib::array2d<unsigned char> picture(one.height(), one.width());
                       for (int y = 0; y < one.height(); ++y)
                         std::copy_n(&one(0, y), one.width(), &picture[y][0]);
                       dlib::pyramid_up(picture);
                       return hog(picture).size();
                     }});
#endif
  face::BoxDetector yunet;
  if (argc > 1) {
    yunet = opencv::make_detector(argv[1], foreign);
    methods.push_back({"YuNet", [&](const Picture& one) { return yunet(one).size(); }});
  }

  using Clock = std::chrono::steady_clock;
  const std::vector<Picture> pictures = photographs();
  for (const Picture& picture : pictures) {
    for (Method& method : methods) {
      double best = HUGE_VAL;
      std::size_t found = 0;
      for (int turn = 0; turn < 3; ++turn) {
        const auto start = Clock::now();
        found = method.find(picture);
        best =
            std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      }
      method.milliseconds.push_back(best);
      method.found += found;
    }
    candidates += ours.work().candidates;
    fits += ours.work().fits;
  }
  fmt::print("{} photographs, faces of {} px and more\n{:<28} {:>10} {:>14} {:>18}\n",
             pictures.size(), kSmallest, "detector", "ms", "times as long", "boxes/photograph");
  for (const Method& method : methods)
    fmt::print("{:<28} {:>10.2f} {:>14.2f} {:>18.2f}\n", method.name, method.median(),
               method.median() / methods[0].median(),
               double(method.found) / double(pictures.size()));
  fmt::print("sdm: {:.1f} candidates a photograph, {:.1f} of them fitted\n",
             double(candidates) / double(pictures.size()), double(fits) / double(pictures.size()));
} catch (const std::exception& error) {
  fmt::print(stderr, "detect_bench: {}\n", error.what());
  return 1;
}
