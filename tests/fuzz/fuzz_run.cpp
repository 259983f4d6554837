// A model that passes its checksums, whoever made it, is refused with sdm::Error or runs: on a
// picture, on points, on numbers. What it gives is finite or says that it is not to be trusted.

#include <cmath>
#include <cstdlib>

#include "sdm/descent/learned.h"
#include "sdm/descent/online.h"
#include "sdm/descent/partition.h"
#include "sdm/face/adapter.h"
#include "sdm/face/aligner.h"
#include "sdm/face/detector.h"
#include "sdm/face/tracker.h"
#include "sdm/io/file.h"
#include "sdm/pose/estimator.h"
#include "sdm/rigid/tracker.h"
#include "tests/fuzz/memory_folder.h"
#include "tests/fuzz/model_mutator.h"
#include "tests/fuzz/small_models.h"

namespace {

using namespace sdm;

const image::Image<std::uint8_t>& picture() {
  static const image::Image<std::uint8_t> one = fuzz::small_picture();
  return one;
}

void require(bool good) {
  if (!good) std::abort();
}

void run_face(const io::Model& file) {
  const face::Model model = face::Model::from_model(file);
  require(io::to_bytes(model.to_model()).size() > 0);
  face::Aligner aligner(model);
  const auto check = [](const face::Alignment& fit) {
    require(fit.score >= 0 && fit.score <= 1);
    require(fit.points.allFinite() || fit.score == 0);
  };
  check(aligner.align(picture(), {10, 10, 40, 40}));
  check(aligner.follow(picture(), {20, 1, 32, 32}));
  face::TrackerOptions options;
  options.threshold = 0.01F;
  face::Tracker tracker(
      model,
      [](image::ByteView) {
        return std::vector<face::Box>{{10, 10, 40, 40}, {30, 5, 20, 20}};
      },
      options);
  for (int i = 0; i < 3; ++i)
    for (const face::TrackedFace& face : tracker.update(picture(), i / 25.0).faces)
      require(face.points.allFinite());
}

void run_detector(const io::Model& file) {
  const face::DetectorModel model = face::DetectorModel::from_model(file);
  static const face::Model verifier = fuzz::small_face();
  face::DetectorOptions options;
  options.smallest = 24;
  options.min_score = 0;
  options.candidates = 10;
  for (const bool verified : {false, true}) {
    face::Detector detector =
        verified ? face::Detector(model, verifier, options) : face::Detector(model, options);
    for (const face::DetectedFace& face : detector.detect(picture()))
      require(face.score >= 0 && face.score <= 1 && std::isfinite(face.box.x) &&
              std::isfinite(face.box.width) && face.points.allFinite());
  }
}

void run_adaptation(const io::Model& file) {
  static const face::Model model = fuzz::small_face();
  static const face::Shape truth = fuzz::small_truth();
  face::Adapter adapter(model, face::Adaptation::from_model(file));
  face::AdapterOptions options;
  options.starts = 2;
  adapter.update(picture(), truth, options);
  run_face(adapter.model().to_model());
}

void run_pose(const io::Model& file) {
  const pose::Estimator estimator = pose::Estimator::from_model(file);
  const Index points = estimator.object().cols();
  pose::Points2 pixels(2, points);
  for (Index i = 0; i < points; ++i) pixels.col(i) << 300 + 10 * double(i % 5), 200 + 7 * double(i);
  estimator.estimate(pixels);
  pose::RefineOptions refine;
  refine.steps = 2;
  estimator.estimate(pixels, refine);
  const Matrix<float> batch = pixels.reshaped().cast<float>().replicate(1, 3);
  Matrix<float> poses(7, 3);
  Vector<float> errors(3);
  estimator.estimate_batch(batch, {}, poses, errors);
}

void run_rigid(const io::Model& file) {
  rigid::Tracker tracker(rigid::TrackerModel::from_model(file));
  for (int i = 0; i < 3; ++i) {
    const rigid::Track track = tracker.update(picture());
    require(track.lost || (track.warp.allFinite() && track.corners.allFinite()));
  }
}

// Features of whatever size a cascade wants.
template <class Scalar>
void run_cascade(const Cascade<Scalar>& cascade) {
  if (cascade.stages() == 0 || cascade.state_size != cascade.delta_size() ||
      cascade.state_size > 1000)
    return;
  Solver<Scalar> solver(cascade);
  Vector<Scalar> x = Vector<Scalar>::Constant(cascade.state_size, Scalar(0.1));
  solver.solve(
      x, [](int, const auto&, auto&& out) { out.setConstant(Scalar(0.5)); },
      [](int, const auto& at, const auto& delta, auto&& out) { out = at + delta; }, true);
  require(x.allFinite());
}

void run_online(const io::Model& file) {
  auto online = OnlineCascade<double>::from_model(file);
  static const auto problem = fuzz::SmallTraining("").problem;
  for (Index i = 0; i < 3; ++i)
    online.update(problem, i, problem.starts.col(i), problem.targets.col(i));
  run_cascade(online.cascade());
}

void run_partition(const io::Model& file) {
  const auto partition = Partition<double>::from_model(file);
  for (const auto& cell : partition.cells) run_cascade(cell);
  if (partition.rule.feature_axes() > 0)
    partition.rule.candidates(
        Vector<double>::Ones(partition.cells.front().maps.front().feature_size()));
}

void run_learned(const io::Model& file) {
  const LearnedModel model = LearnedModel::from_model(file);
  const Index features = model.features;
  if (features > 1000 || model.states() > 100) return;
  const Learned learned(
      model,
      [features](const Vector<double>& x) {
        return Vector<double>(Vector<double>::LinSpaced(features, 0, 1) * x.sum());
      },
      [](ConstVectorRef<double>, VectorRef<double> x) { x.setZero(); });
  LearnedSolveOptions options;
  const Answer answer = learned.solve(Vector<double>::Constant(features, 0.3), options);
  require(answer.x.allFinite() || !answer.trusted());
}

void run_checkpoint(const io::Model& file) {
  static const fuzz::SmallTraining training((fuzz::memory_folder() / "checkpoint.sdm").string());
  io::write(training.options.checkpoint, file);
  training.problem.train(training.options);
}

void run(const io::Model& model) {
  if (model.kind.starts_with("face-adapt")) return run_adaptation(model);
  if (model.kind.starts_with("face")) return run_face(model);
  if (model.kind == "detector") return run_detector(model);
  if (model.kind == "pose") return run_pose(model);
  if (model.kind == "rigid") return run_rigid(model);
  if (model.kind == "cascade") {
    run_cascade(Cascade<double>::from_model(model));
    return run_cascade(Cascade<float>::from_model(model));
  }
  if (model.kind == "online") return run_online(model);
  if (model.kind == "partition") return run_partition(model);
  if (model.kind == "learned") return run_learned(model);
  if (model.kind == "checkpoint") return run_checkpoint(model);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    run(sdm::io::read(std::as_bytes(std::span(data, size))));
  } catch (const sdm::Error&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  const std::vector<std::byte> changed =
      sdm::io::ModelMutator(seed)(std::as_bytes(std::span(data, size)), most);
  if (changed.empty()) return size;
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
