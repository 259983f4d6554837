// Landmarks from a few pictures of one's own: `sdm train` without an option against dlib's
// shape_predictor_trainer, by 5-fold cross-validation on the same folds, in one run.
//
//   landmarks_bench [WINGS_FOLDER]
//
// The pictures are the 34 fly wings (12 points, the whole picture as box) of the data folder, else
// drawn leaves. Ours chooses its settings anew within each fold, from its training part alone.
// dlib's best of a small grid is picked by the error on the very folds it is reported on, which
// favours dlib. Its points are whole pixels, as it gives them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include "adapters/peers/dlib_trees.h"
#include "adapters/peers/leaves.h"
#include "adapters/peers/wings.h"
#include "sdm/face/train/choose_options.h"
#include "sdm/face/train/cross_validate.h"
#include "sdm/opencv/image.h"

namespace {
using namespace sdm;
namespace fs = std::filesystem;
using Faces = std::vector<face::TrainingFace>;

constexpr int kParts = 5;
constexpr std::uint64_t kSeed = 1;
constexpr double kBudget = 60;  // as `sdm train` has it

// By the wall's clock, and of all cores together, which other work on the machine does not change
// much.
struct Seconds {
  double wall = 0, processor = 0;

  std::string text() const {
    return fmt::format("{:.1f} s ({:.1f} of processor)", wall, processor);
  }
};

Seconds seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          double(std::clock() - processor) / CLOCKS_PER_SEC};
}

// Mean distance of a point, in pixels.
double error_of(const Faces& faces, const std::vector<face::Shape>& found) {
  double sum = 0;
  for (std::size_t i = 0; i < faces.size(); ++i)
    sum += face::mean_distance(found[i], faces[i].truth);
  return sum / double(faces.size());
}

face::Model train_ours(const Faces& faces, double budget) {
  face::TrainerOptions given = face::TrainerOptions::preset("accurate");
  given.seed = kSeed;
  face::ChoiceOptions choosing;
  choosing.seconds = budget;
  return face::train(faces, {}, face::choose_options(faces, given, choosing).options).model;
}

struct CrossValidated {
  double error = 0;
  Seconds seconds;  // of training, a fold

  void add(const Seconds& fold) {
    seconds.wall += fold.wall / kParts;
    seconds.processor += fold.processor / kParts;
  }
};

CrossValidated ours(const Faces& faces, const std::vector<int>& parts) {
  CrossValidated result;
  const auto found = face::cross_validate(faces, parts, kSeed, [&](const Faces& others, int part) {
    fmt::print(stderr, "\rsdm: fold {} of {} ", part + 1, kParts);
    face::Model model;
    result.add(seconds_of([&] { model = train_ours(others, kBudget); }));
    return model;
  });
  fmt::print(stderr, "\r{:40}\r", "");
  result.error = error_of(faces, found);
  return result;
}

CrossValidated trees(const Faces& faces, const std::vector<int>& parts,
                     const peers::TreeOptions& options) {
  CrossValidated result;
  for (int part = 0; part < kParts; ++part) {
    fmt::print(stderr, "\rdlib: fold {} of {} ", part + 1, kParts);
    Faces others, held_out;
    for (std::size_t i = 0; i < faces.size(); ++i)
      (parts[i] == part ? held_out : others).push_back(faces[i]);
    peers::TreeAnswers answers;
    result.add(seconds_of([&] { answers = peers::dlib_trees(others, held_out, options); }));
    result.error +=
        error_of(held_out, answers.points) * double(held_out.size()) / double(faces.size());
  }
  fmt::print(stderr, "\r{:40}\r", "");
  return result;
}

// One setting after the other from dlib's own, each kept if the error falls.
CrossValidated best_trees(const Faces& faces, const std::vector<int>& parts) {
  peers::TreeOptions best;
  best.threads = int(std::max(1U, std::thread::hardware_concurrency()));
  CrossValidated least;
  bool first = true;
  const auto attempt = [&](const peers::TreeOptions& options) {
    const CrossValidated tried = trees(faces, parts, options);
    const bool better = first || tried.error < least.error;
    first = false;
    fmt::print("  dlib, {}: {:.2f} px, {} a fold{}\n", options.text(), tried.error,
               tried.seconds.text(), better ? ", the best so far" : "");
    std::fflush(stdout);
    if (better) best = options, least = tried;
    return better;
  };
  // Further values of one setting, as long as that pays.
  const auto vary = [&](auto peers::TreeOptions::*member, auto... values) {
    const auto change = [&](auto value) {
      peers::TreeOptions next = best;
      next.*member = value;
      return attempt(next);
    };
    (change(values) && ...);
  };
  attempt(best);
  vary(&peers::TreeOptions::depth, 3, 2);
  vary(&peers::TreeOptions::nu, 0.05, 0.025);
  vary(&peers::TreeOptions::padding, 0.1, 0.2);
  vary(&peers::TreeOptions::cascades, 15, 20);
  vary(&peers::TreeOptions::oversampling, 60, 100, 300);  // last, since it takes the time
  return least;
}

}  // namespace

int main(int argc, char** argv) try {
  const fs::path folder = argc > 1 ? fs::path(argv[1]) : fs::path(SDM_SHARED_DATA) / "wings";
  const bool wings = fs::exists(folder / "wings.tps");
  if (!wings)
    fmt::print("no wings.tps in {}: drawn leaves in place of the wings\n", folder.string());
  const Faces faces =
      wings ? peers::read_wings(folder, opencv::read_grey) : peers::draw_leaves(kSeed, 0, 34);
  const std::vector<int> parts = face::cross_validation_parts(faces, kParts, kSeed);
  const std::string what = wings ? "fly wings" : "drawn leaves";
  fmt::print("{} {} of {} points, {}-fold cross-validation, all cores\n", faces.size(), what,
             faces.front().truth.cols(), kParts);

  const Seconds all = seconds_of([&] { train_ours(faces, kBudget); });
  const CrossValidated sdm = ours(faces, parts);
  fmt::print("  sdm, chosen within each fold: {:.2f} px, {} a fold\n", sdm.error,
             sdm.seconds.text());
  fmt::print("  sdm, all {} pictures, {:g} s to choose in: trained in {}\n", faces.size(), kBudget,
             all.text());
  std::fflush(stdout);
  if (!peers::have_dlib_trees()) {
    fmt::print("built without dlib: nothing to compare with\n");
    return 0;
  }
  const CrossValidated dlib = best_trees(faces, parts);
  fmt::print(
      "dlib's best, picked on these folds, over ours: error {:.2f} / {:.2f} px = {:.2f}, "
      "processor time {:.1f} / {:.1f} s = {:.2f}\n",
      dlib.error, sdm.error, dlib.error / sdm.error, dlib.seconds.processor, sdm.seconds.processor,
      dlib.seconds.processor / sdm.seconds.processor);
} catch (const std::exception& error) {
  fmt::print(stderr, "landmarks_bench: {}\n", error.what());
  return 1;
}
