// The time of a pose, ours against POSIT and, where OpenCV is found, solvePnP. The table at the end
// gives the ratios to `sdm_batch`, which takes many poses at once.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>

#include "bench/ratios.h"
#include "sdm/pose/object.h"
#include "sdm/pose/posit.h"
#include "sdm/pose/projection.h"
#include "sdm/pose/train/train_estimator.h"

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
    TrainEstimatorOptions options;
    options.range.rotation_degrees.setConstant(degrees);
    options.samples = 4000;
    estimator = std::make_unique<Estimator>(train_estimator(cube(), options).estimator);
  }
  sdm::Matrix<float> pixels;
  std::vector<Points2> images, normalised;
  std::unique_ptr<Estimator> estimator;
};

void add_batch(const std::string& name, const Data& d, Estimator::BatchOptions options) {
  benchmark::RegisterBenchmark(name.c_str(), [&d, options](benchmark::State& state) {
    sdm::Matrix<float> poses(7, count);
    sdm::Vector<float> errors(count);
    for (auto _ : state) {
      d.estimator->estimate_batch(d.pixels, options, poses, errors);
      benchmark::DoNotOptimize(poses.data());
    }
    state.SetItemsProcessed(state.iterations() * count);
  });
}

// Runs `solve(i)` for one picture after the other.
template <class Solve>
void add(const std::string& name, Solve solve) {
  benchmark::RegisterBenchmark(name.c_str(), [solve](benchmark::State& state) {
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(solve(i++ % count));
  });
}

#ifdef SDM_BENCH_CALIB3D
void add_solve_pnp(const std::string& name, const Data& d, int method) {
  const Camera camera;
  const cv::Matx33d k(camera.fx, 0, camera.cx, 0, camera.fy, camera.cy, 0, 0, 1);
  std::vector<cv::Point3d> object;
  const Points3 corners = cube();
  for (const auto& point : corners.colwise()) object.emplace_back(point.x(), point.y(), point.z());
  std::vector<std::vector<cv::Point2d>> images(count);
  for (std::size_t i = 0; i < images.size(); ++i)
    for (const auto& point : d.images[i].colwise()) images[i].emplace_back(point.x(), point.y());
  add(name, [=](std::size_t i) {
    cv::Vec3d turn, move;
    cv::solvePnP(object, images[i], k, cv::noArray(), turn, move, false, method);
    return move;
  });
}
#endif

void add_all(const std::string& name, const Data& d, int stages) {
  add_batch(name + "/sdm_batch", d, {stages, 0});
  add_batch(name + "/sdm_batch_refined", d, {5, 2});
  add(name + "/sdm_one_by_one", [&d](std::size_t i) { return d.estimator->estimate(d.images[i]); });
  add(name + "/posit",
      [&d, solver = Posit(cube())](std::size_t i) { return solver.estimate(d.normalised[i]); });
#ifdef SDM_BENCH_CALIB3D
  add_solve_pnp(name + "/sqpnp", d, cv::SOLVEPNP_SQPNP);
  add_solve_pnp(name + "/epnp", d, cv::SOLVEPNP_EPNP);
  add_solve_pnp(name + "/iterative", d, cv::SOLVEPNP_ITERATIVE);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
#ifdef SDM_BENCH_CALIB3D
  cv::setNumThreads(1);
#endif
  const Data narrow(30), wide(60);
  add_all("cube within 30 degrees", narrow, 10);
  add_all("cube within 60 degrees", wide, 5);
  sdm::bench::Ratios ratios("sdm_batch");
  benchmark::RunSpecifiedBenchmarks(&ratios);
}
