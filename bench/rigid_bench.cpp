// A frame of the rigid tracker against Lucas-Kanade and OpenCV's ECC (20 iterations each), and its
// training; 100 x 100 template, affine. The frames are drawn: discs of many sizes and greys.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "bench/ratios.h"
#include "sdm/image/augment.h"
#include "sdm/rigid/lucas_kanade.h"
#include "sdm/rigid/train/train_tracker.h"

#ifdef SDM_BENCH_ECC
#include <opencv2/video/tracking.hpp>
#endif

namespace {

using namespace sdm;

constexpr int kWidth = 400, kHeight = 320, kSide = 100, kIterations = 20;
constexpr int kMoveX = 3, kMoveY = -2, kMargin = 5;

// Edges in all directions at all scales, softened as a lens does.
image::Image<std::uint8_t> draw_texture() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> even(0, 1);
  constexpr int width = kWidth + 2 * kMargin, height = kHeight + 2 * kMargin;
  image::Image<float> picture(width, height, 128);
  for (int i = 0; i < 400; ++i) {
    const double radius = 2 + 40 * std::pow(0.15 + 0.85 * even(random), 2);
    const double cx = width * even(random), cy = height * even(random);
    const auto grey = float(20 + 215 * even(random));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        if (std::hypot(x - cx, y - cy) < radius) picture(x, y) = grey;
  }
  image::motion_blur(picture, 2, 0.4F, picture);
  image::Image<std::uint8_t> bytes(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      bytes(x, y) = static_cast<std::uint8_t>(std::clamp(picture(x, y), 0.F, 255.F) + 0.5F);
  return bytes;
}

/// Two frames of one texture, the second moved by a few pixels.
struct Frames {
  image::Image<std::uint8_t> texture = draw_texture();
  image::ByteView first = seen(0, 0), next = seen(kMoveX, kMoveY);
  rigid::Quad region =
      rigid::quad_of_box((kWidth - kSide) / 2, (kHeight - kSide) / 2, kSide, kSide);

 private:
  image::ByteView seen(int x, int y) const {
    return texture.view().crop(kMargin - x, kMargin - y, kWidth, kHeight);
  }
};

const Frames& frames() {
  static const Frames all;
  return all;
}

void add_frame(const std::string& method, const std::function<void()>& align) {
  benchmark::RegisterBenchmark(("frame/" + method).c_str(), [align](benchmark::State& state) {
    for (auto _ : state) align();
  })->Unit(benchmark::kMicrosecond);
}

void add_sdm(const std::string& name, const rigid::TrainTrackerOptions& options) {
  const auto tracker = std::make_shared<rigid::Tracker>(
      rigid::train_tracker(frames().first, frames().region, options).tracker);
  add_frame(name, [tracker, start = tracker->warp()] {
    benchmark::DoNotOptimize(tracker->align(frames().next, start));
  });
}

void add_lucas_kanade(const std::string& name, rigid::LucasKanadeKind kind) {
  rigid::LucasKanadeOptions options;
  options.kind = kind;
  options.iterations = kIterations;
  const auto tracker =
      std::make_shared<rigid::LucasKanade>(frames().first, frames().region, options);
  add_frame(name, [tracker, start = tracker->warp()] {
    tracker->restart(start);
    benchmark::DoNotOptimize(tracker->update(frames().next));
  });
}

#ifdef SDM_BENCH_ECC
void add_ecc() {
  cv::setNumThreads(1);
  const auto mat = [](image::ByteView view) {
    return cv::Mat(view.height, view.width, CV_8U, const_cast<std::uint8_t*>(view.data),
                   std::size_t(view.stride));
  };
  // It looks at 80 px around the template.
  constexpr int margin = 80, x = (kWidth - kSide) / 2, y = (kHeight - kSide) / 2;
  const cv::Mat target = mat(frames().first)(cv::Rect(x, y, kSide, kSide)).clone();
  const cv::Mat part =
      mat(frames().next)(cv::Rect(x - margin, y - margin, kSide + 2 * margin, kSide + 2 * margin));
  add_frame("ecc", [target, part] {
    cv::Mat warp = (cv::Mat_<float>(2, 3) << 1, 0, margin, 0, 1, margin);
    const cv::TermCriteria stop(cv::TermCriteria::COUNT | cv::TermCriteria::EPS, kIterations, -1);
    cv::findTransformECC(target, part, warp, cv::MOTION_AFFINE, stop, cv::noArray(), 5);
    benchmark::DoNotOptimize(warp.data);
  });
}
#endif

void training(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(rigid::train_tracker(frames().first, frames().region));
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  add_sdm("sdm", {});
  add_sdm("sdm_paper", rigid::TrainTrackerOptions::paper());
  add_lucas_kanade("lk_forward_additive", rigid::LucasKanadeKind::forward_additive);
  add_lucas_kanade("lk_inverse_compositional", rigid::LucasKanadeKind::inverse_compositional);
#ifdef SDM_BENCH_ECC
  add_ecc();
#endif
  benchmark::RegisterBenchmark("training/sdm", training)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  bench::Ratios ratios("sdm");
  benchmark::RunSpecifiedBenchmarks(&ratios);
}
