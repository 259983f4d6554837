#include "tests/fuzz/small_models.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "face/folding.h"
#include "sdm/base/random.h"
#include "sdm/descent/online.h"
#include "sdm/descent/partition.h"
#include "sdm/descent/train/learn.h"
#include "sdm/face/detector_model.h"
#include "sdm/io/file.h"
#include "sdm/pose/estimator.h"
#include "sdm/pose/object.h"
#include "sdm/rigid/score.h"
#include "sdm/rigid/tracker.h"

namespace sdm::fuzz {
namespace {

template <class Scalar>
Matrix<Scalar> drawn(Index rows, Index cols, double size, Random& random) {
  Matrix<Scalar> values(rows, cols);
  for (Scalar& value : values.reshaped()) value = static_cast<Scalar>(size * random.normal());
  return values;
}

template <class Scalar>
Cascade<Scalar> cascade(Index states, Index features, int stages, Random& random) {
  Cascade<Scalar> result;
  result.state_size = states;
  for (int k = 0; k < stages; ++k)
    result.maps.emplace_back(drawn<Scalar>(states, features, 0.1, random),
                             Vector<Scalar>(drawn<Scalar>(states, 1, 0.1, random)));
  return result;
}

face::DetectorModel detector(Random& random) {
  face::DetectorModel model;
  model.name = "small";
  model.columns = model.rows = 4;
  model.cell = 0.5F;
  model.threshold = -1;
  for (int i = 0; i < 2; ++i) {
    face::DetectorTemplate one;
    one.name = "upright";
    one.scale = 0.01F;
    for (int k = 0; k < model.features(); ++k)
      one.weights.push_back(static_cast<std::int8_t>(random.below(255)));
    model.templates.push_back(one);
  }
  model.gate = model.templates.front();
  model.gate_threshold = -2;
  return model;
}

pose::Estimator estimator(Random& random) {
  const pose::Points3 object = pose::cube();
  std::vector<pose::Estimator::Cell> cells(2);
  for (auto& cell : cells) {
    cell.cascade.state_size = 7;
    for (int k = 0; k < 2; ++k)
      cell.cascade.maps.emplace_back(drawn<double>(6, 2 * object.cols(), 0.1, random),
                                     Vector<double>(drawn<double>(6, 1, 0.01, random)));
  }
  return {object, pose::Camera{}, pose::PoseRange{}, cells, "drawn"};
}

rigid::TrackerModel tracker(Random& random) {
  rigid::TrackerModel model;
  rigid::Canvas canvas;
  canvas.width = canvas.height = 20;
  canvas.unit = 5;
  canvas.hog.cell = 5;
  canvas.hog.normalisation = image::Normalisation::l2;
  model.canvases = {canvas};
  model.templates = {Vector<float>(drawn<float>(canvas.feature_size(), 1, 0.3, random))};
  model.stage_canvas = {0, 0};
  model.cascade.state_size = 9;
  for (int k = 0; k < 2; ++k)
    model.cascade.maps.emplace_back(
        drawn<float>(rigid::parameter_count(model.motion), canvas.feature_size(), 0.01, random),
        Vector<float>(drawn<float>(rigid::parameter_count(model.motion), 1, 0.01, random)));
  model.search = {rigid::Warp::Identity()};
  model.pixels.canvas = canvas;
  const Index size = Index{canvas.width} * canvas.height;
  model.pixels.pixels = (drawn<float>(size, 1, 40, random).array() + 120).matrix();
  model.pixels.slope_u = drawn<float>(size, 1, 5, random);
  model.pixels.slope_v = drawn<float>(size, 1, 5, random);
  model.pixels.blurs = drawn<float>(size, rigid::PixelTemplate::kBlurs, 2, random);
  model.score.weights = drawn<float>(rigid::kScoreFeatures, 1, 1, random);
  model.scan = true;
  model.start << 0.3, 0, 32, 0, 0.3, 32, 0, 0, 1;
  return model;
}

io::Model learned() {
  LearnOptions options;
  options.samples = 300;
  options.calibration = 200;
  options.max_stages = 2;
  options.max_order = 1;
  options.max_bits = 1;
  options.threads = 1;
  const auto h = [](const Vector<double>& x) {
    Vector<double> y(3);
    y << std::sin(x[0]), x[0] * x[1], x[1];
    return y;
  };
  return learn(h, Box({{0, 1}, {0, 1}}), options).to_model();
}

// Of the same problem as the checkpoint.
io::Model online(Random& random) {
  const std::vector<Matrix<double>> inverse(2, Matrix<double>::Identity(5, 5));
  Cascade<double> maps = cascade<double>(2, 4, 2, random);
  maps.template_known = false;
  return OnlineCascade<double>(maps, inverse).to_model();
}

io::Model checkpoint() {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("sdm_fuzz_seed_" + std::to_string(::getpid()));
  SmallTraining training(path.string());
  TrainObserver observer;
  observer.stage = [](const StageSummary& stage) {
    if (stage.stage == 1) throw std::runtime_error("stop");
  };
  try {
    training.problem.train(training.options, observer);
  } catch (const std::runtime_error&) {
  }
  io::Model model = io::read(path);
  std::filesystem::remove(path);
  return model;
}

}  // namespace

SmallTraining::SmallTraining(std::string checkpoint) {
  options.stages = 3;
  options.folds = 2;
  options.threads = 1;
  options.checkpoint = std::move(checkpoint);
}

image::Image<std::uint8_t> small_picture() {
  image::Image<std::uint8_t> picture(64, 64);
  Random random(5, "picture");
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x)
      picture(x, y) = static_cast<std::uint8_t>(60 + 2 * (x ^ y) % 120 + int(random.below(30)));
  return picture;
}

face::Shape small_truth() {
  face::Shape truth(2, 6);
  truth << 22, 42, 32, 26, 38, 32, 26, 26, 34, 42, 42, 48;
  return truth;
}

face::Model small_face() {
  Random random(1, "face");
  face::Model model;
  model.name = "small";
  model.mean.resize(2, 6);
  model.mean << -0.5F, 0.5F, 0, -0.3F, 0.3F, 0, -0.3F, -0.3F, 0.1F, 0.5F, 0.5F, 0.8F;
  model.boxes.push_back({"box"});
  model.recipe.unit = 12;
  model.recipe.stages = {{2, 4, true}, {1, 3, true}};
  for (const face::StageRecipe& stage : model.recipe.stages) {
    const face::Folding folding(6, stage.cells, {});
    std::vector<std::int8_t> values;
    for (Index i = 0; i < folding.size() * 3; ++i)
      values.push_back(static_cast<std::int8_t>(random.below(255)));
    face::CompactMap map;
    map.values = io::to_tensor(std::span<const std::int8_t>(values),
                               {static_cast<std::size_t>(folding.size()), 3});
    const std::vector<float> scale(3, 0.001F);
    map.scale = io::to_tensor(std::span<const float>(scale), {1, 3});
    map.even = 3;
    map.shape = drawn<float>(3, 12, 0.05, random);
    map.left = drawn<float>(12, 3, 0.05, random);
    map.bias = drawn<float>(12, 1, 0.02, random);
    model.maps.push_back(std::move(map));
  }
  model.shape3d = drawn<float>(3, 6, 1, random);
  model.shape3d_weights = Vector<float>::Ones(6);
  return model;
}

std::vector<std::pair<std::string, io::Model>> small_models() {
  Random random(2, "models");
  const face::Model face = small_face();
  face::Model mirrored = face;
  mirrored.shape3d.resize(3, 0);
  mirrored.shape3d_weights.resize(0);
  face::Model on_base = face;
  on_base.base = std::make_shared<const face::Model>(face);
  on_base.from_base = Matrix<float>::Identity(12, 12);
  face::Adaptation adaptation;
  adaptation.fingerprint = face::fingerprint(face);
  for (const face::CompactMap& map : face.maps)
    adaptation.inverse_covariances.push_back(
        Matrix<double>::Identity(map.rank() + 1, map.rank() + 1));
  Partition<double> partition;
  for (int c = 0; c < 2; ++c) partition.cells.push_back(cascade<double>(3, 5, 2, random));
  partition.starts.assign(2, Vector<double>::Zero(3));
  return {{"face", face.to_model()},
          {"face-plain", mirrored.to_model()},
          {"face-on-base", on_base.to_model()},
          {"adaptation", adaptation.to_model()},
          {"detector", detector(random).to_model()},
          {"pose", estimator(random).to_model()},
          {"rigid", tracker(random).to_model()},
          {"cascade", cascade<double>(3, 5, 2, random).to_model()},
          {"partition", partition.to_model()},
          {"online", online(random)},
          {"learned", learned()},
          {"checkpoint", checkpoint()}};
}

}  // namespace sdm::fuzz
