// Follows the faces of a video and prints where each one looks.
//
//   track_face models/face68.sdm video.mp4        or a folder of pictures, or 0 for a camera
//
// The tracker asks the detector for boxes when it has no face or has lost one, and only then. Any
// callable that gives boxes will do; this program takes its detector and its video reader from
// sdm::opencv.
#include <cstdio>
#include <exception>

#include "sdm/face/tracker.h"
#include "sdm/opencv/detector.h"
#include "sdm/opencv/image.h"
#include "sdm/opencv/video.h"

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::printf("usage: track_face MODEL VIDEO\n");
    return 0;
  }
  const auto model = sdm::face::Model::load(argv[1]);  // must outlive the tracker
  sdm::face::TrackerOptions options;
  options.faces = 3;
  sdm::face::Tracker tracker(model, sdm::opencv::make_detector("haar_alt2"), options);

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
