#include "experiments/landmarks/learning_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "sdm/base/random.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/aligner.h"
#include "sdm/face/train/choose_options.h"
#include "sdm/face/train/cross_validate.h"

namespace sdm::experiments {
namespace {

using Faces = std::vector<face::TrainingFace>;

constexpr int kLearningFolds = 5;

// What is learned from, in the order it is taken, and what is held out.
struct Trial {
  Faces pool, held_out;
};

std::vector<Trial> trials_of(const LandmarkSet& set, std::uint64_t seed) {
  std::vector<Trial> trials;
  if (!set.test.empty()) {
    trials.push_back({set.faces, set.test});
  } else {
    const std::vector<int> parts = face::cross_validation_parts(set.faces, kLearningFolds, seed);
    trials.resize(kLearningFolds);
    for (int part = 0; part < kLearningFolds; ++part)
      for (std::size_t i = 0; i < set.faces.size(); ++i)
        (parts[i] == part ? trials[std::size_t(part)].held_out : trials[std::size_t(part)].pool)
            .push_back(set.faces[i]);
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    Random random(seed, "learning curve", i);
    shuffle(trials[i].pool, random);
  }
  return trials;
}

std::vector<int> sizes_of(const LandmarkSet& set, const std::vector<Trial>& trials) {
  int most = int(trials.front().pool.size());
  for (const Trial& trial : trials) most = std::min(most, int(trial.pool.size()));
  std::vector<int> sizes;
  for (const int size : set.sizes)
    if (size <= most) sizes.push_back(size);
  if (set.test.empty() && (sizes.empty() || sizes.back() < most)) sizes.push_back(most);
  return sizes;
}

double error_on(const LandmarkSet& set, const face::TrainingFace& face, const face::Shape& found) {
  const double pixels = face::mean_distance(found, face.truth);
  if (set.over.first < 0) return pixels;
  return 100 * pixels /
         double((face.truth.col(set.over.first) - face.truth.col(set.over.second)).norm());
}

std::vector<face::Shape> learn_and_find(const LandmarkSet& set, const Faces& faces,
                                        const Faces& held_out, std::uint64_t seed, int threads,
                                        double& seconds) {
  face::TrainerOptions given = face::TrainerOptions::preset("accurate");
  given.mirror = set.mirror;
  given.unit = set.over;
  given.seed = seed;
  given.threads = threads;
  face::ChoiceOptions choosing;
  choosing.seconds = set.budget;
  choosing.faces = set.faces_to_choose_by;
  const auto start = std::chrono::steady_clock::now();
  const face::Model model =
      face::train(faces, {}, face::choose_options(faces, given, choosing).options).model;
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  face::Aligner aligner(model);
  std::vector<face::Shape> found;
  for (const face::TrainingFace& face : held_out)
    found.push_back(aligner.align(face.picture, face.boxes.front()).points);
  return found;
}

}  // namespace

peers::TreeOptions tree_options(int samples) {
  peers::TreeOptions options;
  options.depth = 2;
  options.nu = 0.05;
  options.oversampling = std::clamp(1200 / samples, 5, 60);
  return options;
}

std::vector<LearningPoint> learning_curve(
    const LandmarkSet& set, std::uint64_t seed, int threads,
    const std::function<void(double share, const std::string& activity)>& progress) {
  const std::vector<Trial> trials = trials_of(set, seed);
  const std::vector<int> sizes = sizes_of(set, trials);
  double work = 0, done = 0;
  for (const int size : sizes) work += size;
  std::vector<LearningPoint> points;
  for (const int size : sizes) {
    for (const char* method : {"sdm", "dlib"}) {
      const bool ours = std::string(method) == "sdm";
      if (!ours && (!peers::have_dlib_trees() || size > set.most_for_trees)) continue;
      LearningPoint point{method, size, 0, 0};
      std::size_t count = 0;
      for (const Trial& trial : trials) {
        if (progress) progress(done / work, fmt::format("{} from {} {}", method, size, set.name));
        const Faces some(trial.pool.begin(), trial.pool.begin() + size);
        double seconds = 0;
        std::vector<face::Shape> found;
        if (ours) {
          found = learn_and_find(set, some, trial.held_out, seed, threads, seconds);
        } else {
          peers::TreeOptions options =
              tree_options(set.mirror.empty() ? size : 2 * size);  // each teaches its mirror image
          options.threads = ThreadPool(threads).threads();
          peers::TreeAnswers answers = peers::dlib_trees(some, trial.held_out, options, set.mirror);
          found = std::move(answers.points);
          seconds = answers.train_seconds;
        }
        for (std::size_t i = 0; i < found.size(); ++i)
          point.error += error_on(set, trial.held_out[i], found[i]);
        count += found.size();
        point.seconds += seconds / double(trials.size());
      }
      point.error /= double(count);
      points.push_back(point);
    }
    done += size;
  }
  return points;
}

}  // namespace sdm::experiments
