// Every vector kernel of the image room against its scalar twin and, where OpenCV has the same,
// against OpenCV with one thread. The table at the end gives the ratios; sizes are those of the
// rigid tracker (100 x 100 template) and of the face aligner (134 x 134 canvas, 68 points).
#include <benchmark/benchmark.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "image/scalar.h"
#include "sdm/image/resample.h"

#if SDM_BENCH_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace {
using namespace sdm::image;

Image<std::uint8_t> frame(int width, int height) {
  std::mt19937 random(1);
  Image<std::uint8_t> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image(x, y) =
          std::uint8_t(128 + 60 * std::sin(0.11 * x) * std::cos(0.07 * y) + double(random() % 32));
    }
  }
  return image;
}

const Image<std::uint8_t>& source() {
  static const Image<std::uint8_t> image = frame(640, 480);
  return image;
}

AffineMap rotation(double scale) {
  AffineMap map;
  map << scale * 0.98, -scale * 0.17, 150, scale * 0.17, scale * 0.98, 90;
  return map;
}

ProjectiveMap tilt() {
  ProjectiveMap map = ProjectiveMap::Identity();
  map.topRows<2>() = rotation(1.2);
  map(2, 0) = 1e-4;
  return map;
}

Image<float> canvas() {
  Image<float> image(134, 134);
  warp_affine(source(), rotation(1.5), image);
  return image;
}

Eigen::Matrix2Xf points() {
  std::mt19937 random(2);
  Eigen::Matrix2Xf p(2, 68);
  for (float& v : p.reshaped()) v = 20.f + float(random() % 9400) / 100;
  return p;
}

template <class Function>
void add(const std::string& name, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), [function](benchmark::State& state) {
    for (auto _ : state) {
      function();
      benchmark::ClobberMemory();
    }
  });
}

// Remembers the times as they are printed and gives the ratios at the end.
class Ratios : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      double& best = times_.try_emplace(run.benchmark_name(), 1e30).first->second;
      best = std::min(best, run.GetAdjustedCPUTime());
    }
    ConsoleReporter::ReportRuns(runs);
  }
  void Finalize() override {
    std::printf("\n%-34s %10s %18s\n", "kernel", "us", "faster than");
    for (const auto& [name, time] : times_) {
      const auto slash = name.find('/');
      const std::string kernel = name.substr(0, slash);
      if (name.substr(slash + 1) != "simd") continue;
      std::printf("%-34s %10.2f", kernel.c_str(), time * 1e-3);
      for (const char* peer : {"scalar", "opencv"}) {
        const auto other = times_.find(kernel + "/" + peer);
        if (other != times_.end()) std::printf("   %s %.1fx", peer, other->second / time);
      }
      std::printf("\n");
    }
  }

 private:
  std::map<std::string, double> times_;
};

}  // namespace

int main(int argc, char** argv) {
  const ByteView src = source();
  const Eigen::Matrix2Xf at = points();
  Image<float> small(100, 100), face(134, 134), face_canvas = canvas();
  Image<std::uint8_t> small_bytes(100, 100), half(320, 240), grey(640, 480);
  const FloatView canvas_view = face_canvas.view();
  const FloatView template_view = canvas_view.crop(17, 17, 100, 100);
  GradientChannels channels(134, 134);
  gradient_channels(canvas_view, channels);
  std::vector<float> descriptors(68 * 128);
  std::vector<std::uint8_t> colours(640 * 480 * 3, 100);
  const ColourView<std::uint8_t> colour{colours.data(), 640, 480, 640 * 3, Layout::bgr};
  Resampler resampler(134, 134);

#define SDM_BOTH(name, call)            \
  add(name "/simd", [&] { call; });     \
  add(name "/scalar", [&] {             \
    using namespace sdm::image::scalar; \
    sdm::image::scalar::call;           \
  })
  SDM_BOTH("warp_affine 100x100 to float", warp_affine(src, rotation(1.2), small.view()));
  SDM_BOTH("warp_affine 100x100 to byte", warp_affine(src, rotation(1.2), small_bytes.view()));
  SDM_BOTH("warp_affine 100x100 float", warp_affine(canvas_view, rotation(0.2), small.view()));
  SDM_BOTH("warp_affine 134x134 to float", warp_affine(src, rotation(1.5), face.view()));
  SDM_BOTH("warp_projective 100x100 to float", warp_projective(src, tilt(), small.view()));
  SDM_BOTH("shrink 640x480 by 2", shrink(src, 2, half.view()));
  SDM_BOTH("to_grey 640x480", to_grey(colour, grey.view()));
  SDM_BOTH("gradient_channels 134x134", gradient_channels(canvas_view, channels));
  for (bool subpixel : {true, false}) {
    const HogOptions options{.subpixel = subpixel};
    const std::string name = subpixel ? "hog 68 points subpixel" : "hog 68 points whole";
    const std::span<float> out(descriptors);
    add(name + "/simd", [&channels, &at, options, out] { hog(channels, at, options, out); });
    add(name + "/scalar",
        [&channels, &at, options, out] { scalar::hog(channels, at, options, out); });
  }
  const DenseHogOptions dense;
  const std::span<float> dense_out(descriptors.data(), std::size_t(dense.size(100, 100)));
  SDM_BOTH("dense_hog 100x100", dense_hog(template_view, dense, dense_out));
  add("face canvas: warp + channels/simd", [&] {
    resampler(src, rotation(1.5), face.view());
    gradient_channels(face.view(), channels);
  });
  add("face canvas, 2x shrunk/simd", [&] {
    resampler(src, rotation(2.5), face.view());
    gradient_channels(face.view(), channels);
  });
  add("rigid stage: warp + dense_hog/simd", [&] {
    warp_affine(src, rotation(1.2), small.view());
    dense_hog(small.view(), dense, dense_out);
  });

#if SDM_BENCH_OPENCV
  cv::setNumThreads(1);
  const cv::Mat cv_src(480, 640, CV_8U, const_cast<std::uint8_t*>(src.data));
  const cv::Mat cv_canvas(134, 134, CV_32F, const_cast<float*>(canvas_view.data));
  auto matrix = [](const AffineMap& m) {
    return cv::Matx23d(m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2));
  };
  const int flags = cv::INTER_LINEAR | cv::WARP_INVERSE_MAP;
  cv::Mat out_bytes, out_floats, out_half, out_grey, out_tilt;
  add("warp_affine 100x100 to byte/opencv", [&] {
    cv::warpAffine(cv_src, out_bytes, matrix(rotation(1.2)), {100, 100}, flags,
                   cv::BORDER_REPLICATE);
  });
  add("warp_affine 100x100 float/opencv", [&] {
    cv::warpAffine(cv_canvas, out_floats, matrix(rotation(0.2)), {100, 100}, flags,
                   cv::BORDER_REPLICATE);
  });
  add("shrink 640x480 by 2/opencv", [&] {
    cv::resize(cv_src, out_half, {320, 240}, 0, 0, cv::INTER_AREA);
  });
  const cv::Mat cv_colour(480, 640, CV_8UC3, colours.data());
  add("to_grey 640x480/opencv", [&] { cv::cvtColor(cv_colour, out_grey, cv::COLOR_BGR2GRAY); });
#endif

  benchmark::Initialize(&argc, argv);
  const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  benchmark::AddCustomContext("target", hwy::TargetName(targets & -targets));
  Ratios ratios;
  benchmark::RunSpecifiedBenchmarks(&ratios);
}
