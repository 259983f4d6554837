// Microseconds of a pose, ours against POSIT and, where OpenCV is found, solvePnP. The counter
// "us_per_pose" is the number to compare; the names of the peers are in the benchmark's name.
#include <benchmark/benchmark.h>

#include <random>

#include "sdm/pose/object.h"
#include "sdm/pose/posit.h"
#include "sdm/pose/projection.h"
#include "sdm/pose/train_estimator.h"

#ifdef SDM_BENCH_CALIB3D
#include <opencv2/calib3d.hpp>
#endif

namespace {

using namespace sdm::pose;
using sdm::Index;

constexpr Index count = 4096;

struct Data {
  explicit Data(double degrees) {
    std::mt19937 engine(1);
    std::uniform_real_distribution<double> even(-1, 1);
    std::normal_distribution<double> normal(0, 2);
    pixels.resize(16, count);
    for (Index i = 0; i < count; ++i) {
      const Eigen::Vector3d angles =
          Eigen::Vector3d::NullaryExpr([&] { return even(engine); }) * degrees * EIGEN_PI / 180;
      const Eigen::Vector3d move = Eigen::Vector3d::NullaryExpr([&] { return even(engine); }) * 400;
      Points2 image =
          project(cube(), {from_euler(angles), Eigen::Vector3d(0, 0, 2000) + move}, Camera());
      for (double& value : image.reshaped()) value += normal(engine);
      pixels.col(i) = image.reshaped().cast<float>();
      normalised.push_back(normalise(Camera(), image));
      images.push_back(std::move(image));
    }
    EstimatorOptions options;
    options.range.rotation_degrees.setConstant(degrees);
    options.samples = 4000;
    estimator = std::make_unique<Estimator>(train_estimator(cube(), options).estimator);
  }
  sdm::Matrix<float> pixels;
  std::vector<Points2> images, normalised;
  std::unique_ptr<Estimator> estimator;
};

const Data& data(double degrees) {
  static const Data narrow(30), wide(60);
  return degrees > 30 ? wide : narrow;
}

void per_pose(benchmark::State& state, double poses_an_iteration) {
  state.counters["us_per_pose"] =
      benchmark::Counter(poses_an_iteration * 1e-6, benchmark::Counter::kIsIterationInvariantRate |
                                                        benchmark::Counter::kInvert);
}

void batch(benchmark::State& state) {
  const Data& d = data(static_cast<double>(state.range(0)));
  sdm::Matrix<float> poses(7, count);
  sdm::Vector<float> errors(count);
  const Estimator::BatchOptions options{static_cast<int>(state.range(1)),
                                        static_cast<int>(state.range(2))};
  for (auto _ : state) {
    d.estimator->estimate_batch(d.pixels, options, poses, errors);
    benchmark::DoNotOptimize(poses.data());
  }
  per_pose(state, count);
}
BENCHMARK(batch)
    ->Name("sdm_batch/degrees,stages,refine_steps")
    ->Args({30, 10, 0})
    ->Args({30, 5, 2})
    ->Args({60, 5, 0})
    ->Args({60, 5, 2});

void single(benchmark::State& state) {
  const Data& d = data(30);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(d.estimator->estimate(d.images[i++ % count]));
  per_pose(state, 1);
}
BENCHMARK(single)->Name("sdm_one_by_one");

void posit(benchmark::State& state) {
  const Data& d = data(30);
  const Posit solver(cube());
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(solver.estimate(d.normalised[i++ % count]));
  per_pose(state, 1);
}
BENCHMARK(posit)->Name("posit");

#ifdef SDM_BENCH_CALIB3D
void solve_pnp(benchmark::State& state, int method) {
  cv::setNumThreads(1);
  const Data& d = data(30);
  const Camera camera;
  const cv::Matx33d k(camera.fx, 0, camera.cx, 0, camera.fy, camera.cy, 0, 0, 1);
  std::vector<cv::Point3d> object;
  const Points3 corners = cube();
  for (const auto& point : corners.colwise()) object.emplace_back(point.x(), point.y(), point.z());
  std::vector<std::vector<cv::Point2d>> images(count);
  for (std::size_t i = 0; i < images.size(); ++i)
    for (const auto& point : d.images[i].colwise()) images[i].emplace_back(point.x(), point.y());
  std::size_t i = 0;
  for (auto _ : state) {
    cv::Vec3d turn, move;
    cv::solvePnP(object, images[i++ % count], k, cv::noArray(), turn, move, false, method);
    benchmark::DoNotOptimize(move);
  }
  per_pose(state, 1);
}
BENCHMARK_CAPTURE(solve_pnp, sqpnp, cv::SOLVEPNP_SQPNP);
BENCHMARK_CAPTURE(solve_pnp, epnp, cv::SOLVEPNP_EPNP);
BENCHMARK_CAPTURE(solve_pnp, iterative, cv::SOLVEPNP_ITERATIVE);
#endif

}  // namespace

BENCHMARK_MAIN();
