// A frame of the rigid tracker against Lucas-Kanade and OpenCV's ECC (20 iterations each), and its
// training; 100 x 100 template, affine.
#include <benchmark/benchmark.h>

#include "bench/ratios.h"
#include "experiments/rigid/followers.h"
#include "experiments/rigid/scene.h"
#include "sdm/rigid/train/train_tracker.h"

namespace {

using namespace sdm;

void frame(benchmark::State& state, const std::string& method) {
  std::string source;
  const std::vector<experiments::Texture> textures = experiments::load_textures({}, source);
  experiments::Scene scene(textures.front(), 1);
  const rigid::Warp still = rigid::Warp::Identity();
  rigid::Warp moved = still;
  moved.topRightCorner<2, 1>() << 3, -2;
  const auto follower =
      experiments::make_follower(method, scene.render(still, still, {}, 0), scene.region(), {});
  const image::ByteView next = scene.render(moved, moved, {}, 1);
  for (auto _ : state) {
    follower->restart(scene.truth(still));
    benchmark::DoNotOptimize(follower->update(next));
  }
}

void training(benchmark::State& state) {
  std::string source;
  const std::vector<experiments::Texture> textures = experiments::load_textures({}, source);
  experiments::Scene scene(textures.front(), 1);
  const rigid::Warp still = rigid::Warp::Identity();
  const image::ByteView first = scene.render(still, still, {}, 0);
  for (auto _ : state) benchmark::DoNotOptimize(rigid::train_tracker(first, scene.region()));
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::string& method : experiments::follower_names())
    benchmark::RegisterBenchmark(("frame/" + method).c_str(), frame, method)
        ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("training/sdm", training)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  bench::Ratios ratios("sdm");
  benchmark::RunSpecifiedBenchmarks(&ratios);
}
