// Landmarks with a model that is ready: a grey picture and a box around a face give its 68 points.
//
//   example_landmarks models/face68.sdm
//
// The library reads no picture files: it is given pixels, whoever decoded them. In place of a
// photograph a face is drawn here, so that the program needs nothing but the model.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "sdm/face/aligner.h"
#include "sdm/face/tracker.h"

namespace {

using sdm::face::Shape;

// True inside the closed line through the points first, ..., last.
bool inside(const Shape& points, int first, int last, float x, float y) {
  bool in = false;
  for (int i = first, j = last; i <= last; j = i++) {
    const auto a = points.col(i), b = points.col(j);
    if ((a.y() > y) != (b.y() > y) && x < a.x() + (y - a.y()) / (b.y() - a.y()) * (b.x() - a.x()))
      in = !in;
  }
  return in;
}

// True within `width` of the open line through the points first, ..., last.
bool along(const Shape& points, int first, int last, float width, float x, float y) {
  const Eigen::Vector2f at(x, y);
  for (int i = first; i < last; ++i) {
    const Eigen::Vector2f a = points.col(i), way = points.col(i + 1) - a;
    const float t = std::clamp((at - a).dot(way) / way.squaredNorm(), 0.F, 1.F);
    if ((a + t * way - at).norm() < width) return true;
  }
  return false;
}

// A face whose landmarks are where `points` says, on a dark ground.
sdm::image::Image<std::uint8_t> draw(const Shape& points, float unit) {
  sdm::image::Image<std::uint8_t> picture(300, 300);
  const Eigen::Vector2f middle = points.rowwise().mean();
  const float jaw = (points.col(16) - points.col(0)).norm() / 2;
  for (int row = 0; row < 300; ++row)
    for (int column = 0; column < 300; ++column) {
      const auto x = static_cast<float>(column), y = static_cast<float>(row);
      const float top = std::hypot((x - points(0, 27)) / jaw, (y - middle.y()) / (1.1F * jaw));
      float grey = 60;                                                             // the ground
      if (inside(points, 0, 16, x, y) || (y < middle.y() && top < 1)) grey = 190;  // the skin
      if (along(points, 17, 21, 0.04F * unit, x, y) || along(points, 22, 26, 0.04F * unit, x, y))
        grey = 80;                                                // the brows
      if (along(points, 27, 30, 0.03F * unit, x, y)) grey = 215;  // the ridge of the nose
      if (along(points, 31, 35, 0.03F * unit, x, y)) grey = 120;
      for (const int eye : {36, 42})
        if (inside(points, eye, eye + 5, x, y)) {
          const Eigen::Vector2f pupil = points.middleCols(eye, 6).rowwise().mean();
          grey = std::hypot(x - pupil.x(), y - pupil.y()) < 0.07F * unit ? 30 : 235;
        } else if (along(points, eye, eye + 3, 0.02F * unit, x, y)) {
          grey = 70;  // the lashes
        }
      if (inside(points, 48, 59, x, y)) grey = 120;  // the lips
      if (inside(points, 60, 67, x, y)) grey = 60;
      picture(column, row) = static_cast<std::uint8_t>(grey);
    }
  return picture;
}

}  // namespace

int main(int argc, char** argv) {
  const auto model = sdm::face::Model::load(argc > 1 ? argv[1] : "models/face68.sdm");

  // The picture, and where its points truly are.
  const sdm::face::Similarity place{100, 0, 150, 160};
  Shape truth = model.mean;
  place.to_image(model.mean, truth);
  const sdm::image::Image<std::uint8_t> drawn = draw(truth, place.scale());

  // What a program has: pixels, and a box from a detector.
  const std::uint8_t* pixels = drawn.view().data;
  const sdm::image::ByteView grey{pixels, drawn.width(), drawn.height(), drawn.width()};
  const sdm::face::Box box = model.convention().box(place);
  const float x = box.x + 4, y = box.y - 3, width = box.width, height = box.height;

  sdm::face::Aligner aligner(model);  // one a thread; allocates nothing
  const auto& found = aligner.align(grey, {x, y, width, height});  // found.points, found.score
  for (sdm::Index p = 0; p < found.points.cols(); ++p)
    std::printf("%d: (%.1f, %.1f)\n", int(p), double(found.points(0, p)),
                double(found.points(1, p)));
  const float error = (found.points - truth).colwise().norm().mean();
  std::printf("score %.2f, mean error %.1f px\n", double(found.score), double(error));

  // The same through the frames of a video.
  const auto detector = [&](sdm::image::ByteView) {
    return std::vector<sdm::face::Box>{{x, y, width, height}};
  };
  sdm::face::Tracker tracker(model, detector);  // any callable that gives boxes
  std::size_t faces = 0;
  for (int t = 0; t < 3; ++t)
    for (const auto& face : tracker.update(grey, t / 25.0).faces) {
      std::printf("frame %d: face %d, score %.2f", t, face.id, double(face.score));
      if (face.pose) std::printf(", yaw %.0f degrees", double(face.pose->yaw));
      std::printf("\n");
      ++faces;
    }
  return error < 0.1F * place.scale() && faces == 3 ? 0 : 1;
}
