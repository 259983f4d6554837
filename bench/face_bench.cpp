// The time of a face, one core: our models given a box and following the face through a video,
// against dlib's 68-point model given the box, in the same run. The programs take turns, face by
// face, round after round, so that whatever else the machine does falls on all alike; the figure is
// the median over rounds of the mean over faces.
//
//   face_bench [MODEL.sdm ...] [OTHER_DLIB_MODEL.dat ...]     default: the shipped models
//
// The faces are those of ../shared/data where it is, otherwise a made-up picture. A fit that our
// score doubts is tried again, which counts; else no method takes longer on one picture than on
// another.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sdm/face/data/boxes.h"
#include "sdm/face/tracker.h"
#include "sdm/opencv/image.h"

#if SDM_BENCH_DLIB
#include <dlib/image_processing.h>
#endif

namespace {
using namespace sdm;
namespace fs = std::filesystem;

const std::string kBoxes = "haar_alt2";

struct Sample {
  image::Image<std::uint8_t> picture;
  face::Box box;
};

image::Image<std::uint8_t> made_up_picture() {
  image::Image<std::uint8_t> picture(440, 440);
  for (int y = 0; y < 440; ++y)
    for (int x = 0; x < 440; ++x)
      picture(x, y) = std::uint8_t(128 + 60 * std::sin(0.11 * x) * std::cos(0.07 * y) +
                                   40 * std::sin(0.003 * x * y));
  return picture;
}

std::vector<Sample> samples() {
  std::vector<Sample> found;
  const fs::path folder = fs::path(SDM_SHARED_DATA) / "faces";
  if (fs::exists(folder / "lfpw_test_boxes.csv")) {
    for (const auto& [file, boxes] : face::read_boxes(folder / "lfpw_test_boxes.csv", kBoxes))
      if (!boxes.empty() && found.size() < 100)
        found.push_back({opencv::read_grey(folder / file), boxes[0]});
  }
  if (found.empty()) found.push_back({made_up_picture(), {100, 60, 240, 240}});
  return found;
}

struct Method {
  std::string name;
  double megabytes = 0;
  std::function<void(std::size_t sample)> run;
  std::vector<double> rounds;  // us a face
  // What comes before and is not timed; nothing: the run of another face, which brings the model
  // into the cache, as in a row of faces, and nothing of the picture.
  std::function<void(std::size_t sample)> prepare = {};

  double median() const {
    std::vector<double> sorted = rounds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

double megabytes(const fs::path& path) { return double(fs::file_size(path)) / 1e6; }

Method sdm_method(const fs::path& path, const std::vector<Sample>& faces) {
  const auto model = std::make_shared<face::Model>(face::Model::load(path));
  const auto aligner = std::make_shared<face::Aligner>(*model);
  return {path.filename().string(),
          megabytes(path),
          [model, aligner, &faces](std::size_t i) {
            const face::BoxConvention& boxes = model->convention(kBoxes);
            if (faces.size() > 1)
              aligner->align(faces[i].picture, faces[i].box, boxes);
            else  // no face, which `align` would look for
              aligner->align_from(faces[i].picture, boxes.similarity(faces[i].box));
          },
          {}};
}

// A frame of a tracked face with everything the tracker gives: score, smoothing, head pose. The
// face is found in one frame, followed into a second and timed in a third; from each to the next it
// moves by a hundredth of its box: in nine of ten frames of videos of talking people it moves less.
Method track_method(const fs::path& path, const std::vector<Sample>& faces) {
  struct Film {
    face::Model model;
    face::Box box;
    std::vector<image::Image<std::uint8_t>> frames = std::vector<image::Image<std::uint8_t>>(3);
    std::unique_ptr<face::Tracker> tracker;
  };
  const auto film = std::make_shared<Film>();
  film->model = face::Model::load(path);
  face::TrackerOptions options;
  options.threshold = 0;  // a made-up picture has no face
  film->tracker = std::make_unique<face::Tracker>(
      film->model, [here = film.get()](image::ByteView) { return std::vector{here->box}; },
      options);
  Method method{path.filename().string() + ", tracked", megabytes(path), {}, {}};
  method.prepare = [film, &faces](std::size_t i) {
    const image::ByteView all = faces[i].picture;
    film->box = faces[i].box;
    film->tracker->reset();
    const int way = std::max(1, int(film->box.width / 100));
    for (int t = 0; t < 3; ++t) {
      const image::ByteView seen = all.crop((2 - t) * way, 0, all.width - 2 * way, all.height);
      image::Image<std::uint8_t>& frame = film->frames[std::size_t(t)];
      frame = image::Image<std::uint8_t>(seen.width, seen.height);
      for (int y = 0; y < seen.height; ++y) std::copy_n(seen.row(y), seen.width, &frame(0, y));
      if (t < 2) film->tracker->update(frame, 0.04 * t);
    }
  };
  method.run = [film](std::size_t) { film->tracker->update(film->frames[2], 0.08); };
  return method;
}

#if SDM_BENCH_DLIB
Method dlib_method(const fs::path& path, const std::vector<Sample>& faces) {
  const auto predictor = std::make_shared<dlib::shape_predictor>();
  dlib::deserialize(path.string()) >> *predictor;
  const auto pictures = std::make_shared<std::vector<dlib::array2d<unsigned char>>>(faces.size());
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const image::ByteView grey = faces[i].picture;
    (*pictures)[i].set_size(grey.height, grey.width);
    for (int y = 0; y < grey.height; ++y)
      std::copy_n(grey.row(y), grey.width, &(*pictures)[i][y][0]);
  }
  return {
      "dlib " + path.filename().string(),
      megabytes(path),
      [predictor, pictures, &faces](std::size_t i) {
        const face::Box& b = faces[i].box;
        const long x = std::lround(b.x), y = std::lround(b.y);
        (*predictor)((*pictures)[i], {x, y, x + std::lround(b.width), y + std::lround(b.height)});
      },
      {}};
}
#endif

}  // namespace

int main(int argc, char** argv) try {
  std::vector<fs::path> paths(argv + 1, argv + argc);
  if (paths.empty()) {
    for (const char* name : {"face68.sdm", "face68-fast.sdm"})
      if (fs::exists(fs::path(SDM_SOURCE_MODELS) / name))
        paths.push_back(fs::path(SDM_SOURCE_MODELS) / name);
  }
  const std::vector<Sample> faces = samples();
  std::vector<Method> methods;
#if SDM_BENCH_DLIB
  const fs::path shipped = "/usr/share/dlib/shape_predictor_68_face_landmarks.dat";
  if (fs::exists(shipped)) {
    methods.push_back(dlib_method(shipped, faces));
  } else {
    fmt::print("dlib's 68-point model is not installed (Debian: libdlib-data)\n");
  }
#endif
  for (const fs::path& path : paths) {
#if SDM_BENCH_DLIB
    if (path.extension() == ".dat") {
      methods.push_back(dlib_method(path, faces));
      continue;
    }
#endif
    methods.push_back(sdm_method(path, faces));
    methods.push_back(track_method(path, faces));
  }
  if (methods.empty()) {
    fmt::print("no model to time\n");
    return 0;
  }

  using Clock = std::chrono::steady_clock;
  const int rounds = 31;
  for (int round = -1; round < rounds; ++round) {  // the first one warms up
    std::vector<double> spent(methods.size(), 0);
    for (std::size_t i = 0; i < faces.size(); ++i) {
      for (std::size_t m = 0; m < methods.size(); ++m) {
        if (methods[m].prepare)
          methods[m].prepare(i);
        else
          methods[m].run((i + faces.size() / 2) % faces.size());
        const auto start = Clock::now();
        methods[m].run(i);
        spent[m] += std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      }
    }
    for (std::size_t m = 0; m < methods.size() && round >= 0; ++m)
      methods[m].rounds.push_back(spent[m] / double(faces.size()));
  }
  fmt::print("{} faces, {} rounds\n{:<48} {:>8} {:>9} {:>8}\n", faces.size(), rounds, "model", "MB",
             "us/face", "speed");
  for (const Method& method : methods)
    fmt::print("{:<48} {:>8.2f} {:>9.1f} {:>7.2f}x\n", method.name, method.megabytes,
               method.median(), methods[0].median() / method.median());
} catch (const std::exception& error) {
  fmt::print(stderr, "face_bench: {}\n", error.what());
  return 1;
}
