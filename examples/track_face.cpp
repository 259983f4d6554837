// Follows the faces of a video and prints where each one looks.
//
//   track_face MODELS VIDEO        the folder of the shipped models; a video, a folder of pictures,
//                                  or 0 for a camera
//
// The tracker asks the detector when it has no face or has lost one, and only then. Detector and
// tracker need no OpenCV; this program takes its video reader from sdm::opencv. Any callable that
// gives boxes will do as a detector, too.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "sdm/face/detector.h"
#include "sdm/face/tracker.h"
#include "sdm/opencv/image.h"
#include "sdm/opencv/video.h"

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::printf("usage: track_face MODELS VIDEO\n");
    return 0;
  }
  const std::filesystem::path models = argv[1];
  // All of them must outlive the tracker.
  const auto windows = sdm::face::DetectorModel::load(models / "face-detector.sdm");
  const auto fast = sdm::face::Model::load(models / "face68-fast.sdm");  // verifies what is found
  const auto model = sdm::face::Model::load(models / "face68.sdm");
  sdm::face::TrackerOptions options;
  options.faces = 3;
  sdm::face::Tracker tracker(model, sdm::face::Detector(windows, fast), options);

  sdm::opencv::VideoReader video(argv[2]);
  cv::Mat grey;
  for (int t = 0; video.read_grey(grey); ++t) {
    const auto& frame = tracker.update(sdm::opencv::view(grey), t / video.fps());
    for (const auto& face : frame.faces)
      std::printf("%d: face %d, score %.2f, yaw %.0f, nose at (%.1f, %.1f)\n", t, face.id,
                  face.score, face.pose ? face.pose->yaw : 0, face.points(0, 30),
                  face.points(1, 30));
    for (const int id : frame.lost) std::printf("%d: face %d is lost\n", t, id);
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "track_face: %s\n", error.what());
  return 1;
}
