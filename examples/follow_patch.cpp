// Follows a patch of a picture that moves under the camera.
//
// 1. Give the tracker one frame and a box: it trains itself on warps of what it sees there.
// 2. Give it the frames that follow; each tells where the corners are, or that the patch is lost.
#include <cmath>
#include <cstdio>

#include "sdm/rigid/train/train_tracker.h"

// A frame of the world, which has moved by (t, t / 2) pixels at time t.
sdm::image::Image<std::uint8_t> camera(double t) {
  sdm::image::Image<std::uint8_t> frame(320, 240);
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) {
      const double u = x - t, v = y - t / 2;
      frame(x, y) = static_cast<std::uint8_t>(128 + 50 * std::sin(u / 5 + std::sin(v / 11)) +
                                              50 * std::sin(v / 7 + 2 * std::sin(u / 17)));
    }
  return frame;
}

int main() {
  using namespace sdm::rigid;
  const Quad box = quad_of_box(80, 60, 100, 100);
  Tracker tracker = train_tracker(camera(0), box).tracker;

  double error = 0;
  for (int t = 4; t <= 40; t += 4) {
    const Track track = tracker.update(camera(t));
    const Eigen::Vector2d moved = track.corners.col(0) - box.col(0);
    error = (moved - Eigen::Vector2d(t, t / 2.0)).norm();
    std::printf("moved by (%.2f, %.2f) px, difference %.1f %%%s\n", moved.x(), moved.y(),
                100 * track.difference, track.lost ? ", lost" : "");
  }
  return error < 0.5 ? 0 : 1;
}
