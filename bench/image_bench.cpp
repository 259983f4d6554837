// Every vector kernel of the image room against its scalar twin and, where OpenCV has the same,
// against OpenCV with one thread. The table at the end gives the ratios; sizes are those of the
// rigid tracker (100 x 100 template) and of the face models (68 points on canvases of 168 and 83
// px).
#include <benchmark/benchmark.h>
#include <hwy/highway.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/ratios.h"
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

Eigen::Matrix2Xf points(int canvas) {
  std::mt19937 random(2);
  Eigen::Matrix2Xf p(2, 68);
  for (float& v : p.reshaped())
    v = float(canvas) * (0.15F + 0.7F * float(random() % 10000) / 10000);
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

#define SDM_BOTH(name, call)                       \
  add(std::string(name) + "/simd", [=] { call; }); \
  add(std::string(name) + "/scalar", [=] {         \
    using namespace sdm::image::scalar;            \
    sdm::image::scalar::call;                      \
  })

// A face on a model's canvas: drawn by a rotation that shrinks, gradients, descriptors at its
// points.
void add_canvas(const std::string& model, int side, HogOptions options) {
  struct Face {
    explicit Face(int side) : canvas(side, side), channels(side, side), resampler(side, side) {}
    Image<float> canvas;
    GradientChannels channels;
    Resampler resampler;
    Eigen::Matrix2Xf at;
    std::vector<float> descriptors;
  };
  const auto face = std::make_shared<Face>(side);
  const ByteView src = source();
  const AffineMap map = rotation(200. / side);
  warp_affine(src, map, face->canvas);
  gradient_channels(face->canvas, face->channels);
  face->at = points(side);
  face->descriptors.resize(std::size_t(68 * options.size()));
  const std::string size = std::to_string(side) + " px";

  SDM_BOTH("warp_affine " + size + " to float", warp_affine(src, map, face->canvas));
  SDM_BOTH("gradient_channels " + size, gradient_channels(face->canvas, face->channels));
  for (const bool subpixel : {true, false}) {
    options.subpixel = subpixel;
    SDM_BOTH("hog 68 points " + model + (subpixel ? " subpixel" : " whole"),
             hog(face->channels, face->at, options, std::span<float>(face->descriptors)));
  }
  add(model + " canvas: warp + channels/simd", [=] {
    face->resampler(src, map, face->canvas);
    gradient_channels(face->canvas, face->channels);
  });
  add(model + " canvas, 2x shrunk/simd", [=] {
    face->resampler(src, rotation(400. / side), face->canvas);
    gradient_channels(face->canvas, face->channels);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const ByteView src = source();
  Image<float> patch(168, 168), small(100, 100);
  Image<std::uint8_t> small_bytes(100, 100), half(320, 240), grey(640, 480);
  warp_affine(src, rotation(1.2), patch);
  const FloatView patch_view = patch.view();
  const FloatView template_view = patch_view.crop(34, 34, 100, 100);
  std::vector<std::uint8_t> colours(640 * 480 * 3, 100);
  const ColourView<std::uint8_t> colour{colours.data(), 640, 480, 640 * 3, Layout::bgr};
  const ImageView<float> small_out = small.view();
  const ImageView<std::uint8_t> byte_out = small_bytes.view(), half_out = half.view(),
                                grey_out = grey.view();
  const DenseHogOptions dense;
  std::vector<float> descriptor(std::size_t(dense.size(100, 100)));
  const std::span<float> dense_out(descriptor);

  SDM_BOTH("warp_affine 100x100 to float", warp_affine(src, rotation(1.2), small_out));
  SDM_BOTH("warp_affine 100x100 to byte", warp_affine(src, rotation(1.2), byte_out));
  SDM_BOTH("warp_affine 100x100 float", warp_affine(patch_view, rotation(0.2), small_out));
  SDM_BOTH("warp_projective 100x100 to float", warp_projective(src, tilt(), small_out));
  SDM_BOTH("shrink 640x480 by 2", shrink(src, 2, half_out));
  SDM_BOTH("to_grey 640x480", to_grey(colour, grey_out));
  SDM_BOTH("dense_hog 100x100", dense_hog(template_view, dense, dense_out));
  add("rigid stage: warp + dense_hog/simd", [=] {
    warp_affine(src, rotation(1.2), small_out);
    dense_hog(small_out, dense, dense_out);
  });
  add_canvas("face68", 168, {.cells = 4, .cell = 8});
  add_canvas("face68-fast", 83, {.cells = 3, .cell = 5});

#if SDM_BENCH_OPENCV
  cv::setNumThreads(1);
  const cv::Mat cv_src(480, 640, CV_8U, const_cast<std::uint8_t*>(src.data));
  const cv::Mat cv_patch(168, 168, CV_32F, const_cast<float*>(patch_view.data));
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
    cv::warpAffine(cv_patch, out_floats, matrix(rotation(0.2)), {100, 100}, flags,
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
  sdm::bench::Ratios ratios("simd");
  benchmark::RunSpecifiedBenchmarks(&ratios);
}
