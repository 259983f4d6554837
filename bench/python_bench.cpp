// What bench/python_bench.py compares the Python package with: the same work in C++, asked for line
// by line, so that the two can be timed in turn. python_bench MODEL PICTURE WIDTH HEIGHT X Y
// BOX_WIDTH BOX_HEIGHT MEASUREMENTS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "bench/gaussian_peak.h"
#include "sdm/descent/train/learn.h"
#include "sdm/face/aligner.h"
#include "sdm/io/file.h"

namespace {

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 10) return 2;
  const auto number = [&](int i) { return std::stoi(argv[i]); };
  const auto model = sdm::face::Model::load(argv[1]);
  const std::string pixels = sdm::io::read_text(argv[2]);
  const sdm::image::ByteView grey(reinterpret_cast<const std::uint8_t*>(pixels.data()), number(3),
                                  number(4));
  const sdm::face::Box box{std::stof(argv[5]), std::stof(argv[6]), std::stof(argv[7]),
                           std::stof(argv[8])};
  sdm::face::Aligner aligner(model);

  const auto h = sdm::batched([](const auto& x, auto&& out) {
    gaussian_peak(nullptr, x.cols(), x.data(), x.outerStride(), out.data(), out.outerStride());
  });
  const sdm::Box range{{0.5, 2}, {1.2, 2.8}, {1.2, 2.8}, {0.6, 1.6}, {0, 1}};
  sdm::LearnOptions options;
  options.features = 25;
  options.noise = sdm::Noise::gaussian(0.05);
  const auto learned = sdm::learn(h, range, options);
  std::string bytes = sdm::io::read_text(argv[9], {.bytes = std::uint64_t{1} << 33});
  const Eigen::Map<const sdm::Matrix<double>> y(
      reinterpret_cast<const double*>(bytes.data()), 25,
      static_cast<sdm::Index>(bytes.size() / (25 * sizeof(double))));
  double sum = 0;  // so that nothing is left out
  for (std::string line; std::getline(std::cin, line);) {
    double seconds = 0;
    // The fastest of a turn: what the other program left in the caches is not its fault.
    if (line == "align") {
      seconds = 1e9;
      for (int i = 0; i < 30; ++i)
        seconds = std::min(seconds, seconds_of([&] { sum += aligner.align(grey, box).score; }));
    }
    if (line == "solve") seconds = seconds_of([&] { sum += learned.solve_batch(y).x(0, 0); });
    std::printf("%.9f\n", seconds);
    std::fflush(stdout);
  }
  return sum == 0.123 ? 1 : 0;
}
