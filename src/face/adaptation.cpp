#include "sdm/face/adaptation.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "face/lesson.h"
#include "face/robust.h"
#include "formatted.h"
#include "hash.h"
#include "sdm/error.h"

namespace sdm::face {
namespace {

void add(Hash& hash, const io::Tensor& tensor) {
  hash.add(tensor.bytes().data(), tensor.bytes().size());
}

// Everything a recipe says. Stored fingerprints depend on the order.
void add(Hash& hash, const Recipe& recipe) {
  for (const float number : {recipe.unit, recipe.canvas, recipe.shape_weight}) hash.add(number);
  hash.add(static_cast<int>(recipe.normalisation));
  hash.add(recipe.subpixel);
  for (const float scale : recipe.patch_scale) hash.add(scale);
  for (const StageRecipe& stage : recipe.stages) {
    hash.add(stage.cells);
    hash.add(stage.cell);
    hash.add(stage.redraw);
  }
}

}  // namespace

std::uint64_t fingerprint(const Model& model) {
  Hash hash;
  add(hash, model.recipe);
  for (const int partner : model.mirror) hash.add(partner);
  hash.add(model.mean);
  for (const CompactMap& map : model.maps) {
    add(hash, map.values);
    add(hash, map.scale);
    hash.add(map.shape);
    hash.add(map.left);
    hash.add(map.bias);
  }
  return hash.value();
}

std::filesystem::path Adaptation::beside(const std::filesystem::path& model) {
  return std::filesystem::path(model).replace_extension(".adaptation.sdm");
}

void Adaptation::require_fits(const Model& model) const {
  if (const std::uint64_t expected = face::fingerprint(model); fingerprint != expected)
    throw Error(
        formatted("the adaptation state belongs to another model ('{}', {:016x}) than '{}' "
                  "({:016x}); every model, and every adapted one, has its own",
                  name, fingerprint, model.name, expected));
  if (inverse_covariances.size() != model.maps.size())
    throw Error(formatted("the adaptation state has {} stages, the model {}",
                          inverse_covariances.size(), model.maps.size()));
  for (std::size_t k = 0; k < model.maps.size(); ++k) {
    const Matrix<double>& inverse = inverse_covariances[k];
    const Index size = model.maps[k].rank() + 1;
    if (inverse.rows() != size || inverse.cols() != size || !inverse.allFinite())
      throw Error(
          formatted("stage {} of the adaptation state is {} x {}, expected {} x {} finite "
                    "numbers",
                    k, inverse.rows(), inverse.cols(), size, size));
  }
}

io::Model Adaptation::to_io() const {
  io::Model file;
  file.kind = "face-adaptation";
  file.header = nlohmann::ordered_json{
      {"name", name},
      {"fingerprint", formatted("{:016x}", fingerprint)},
      {"stages", inverse_covariances.size()},
      {"provenance", provenance},
      {"licence",
       licence}}.dump(1);
  for (std::size_t k = 0; k < inverse_covariances.size(); ++k)
    file.put(formatted("stage{}.inverse_covariance", k), io::to_tensor(inverse_covariances[k]));
  return file;
}

Adaptation Adaptation::from(const io::Model& file) {
  file.require_kind("face-adaptation");
  Adaptation state;
  try {
    const auto header = nlohmann::json::parse(file.header);
    state.name = header.at("name");
    state.provenance = header.at("provenance");
    state.licence = header.at("licence");
    const std::string text = header.at("fingerprint");
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), state.fingerprint, 16);
    if (error != std::errc() || end != text.data() + text.size())
      throw Error(formatted(
          "adaptation state: the fingerprint is '{}', expected 16 hexadecimal digits", text));
    const std::size_t stages = header.at("stages");
    for (std::size_t k = 0; k < std::min(stages, file.tensors.size()); ++k)
      state.inverse_covariances.push_back(
          file.matrix<double>(formatted("stage{}.inverse_covariance", k)));
  } catch (const nlohmann::json::exception& error) {
    throw Error(formatted("adaptation state: the header is not one: {}", error.what()));
  }
  return state;
}

void AdaptationOptions::validate() const {
  if (starts < 1 || starts > 1000)
    throw Error(formatted("{} starts of each face, expected 1 to 1000", starts));
  if (!(robust >= 0)) throw Error(formatted("the robust error is {}, expected 0 or more", robust));
}

struct AdaptationLearner::State {
  State(const Model& m, const AdaptationOptions& o) : model(m), options(o), lesson(m) {
    for (const CompactMap& map : m.maps)
      sums.push_back(Matrix<double>::Zero(map.rank() + 1, map.rank() + 1));
  }

  const Model& model;
  AdaptationOptions options;
  Lesson lesson;
  std::vector<Matrix<double>> sums;
  Index faces = 0;
};

AdaptationLearner::AdaptationLearner(const Model& model, const AdaptationOptions& options) {
  model.validate();
  options.validate();
  state_ = std::make_unique<State>(model, options);
}
AdaptationLearner::~AdaptationLearner() = default;

void AdaptationLearner::add(image::ByteView grey, const Shape& truth) {
  State& s = *state_;
  s.lesson.require_face(grey, truth);
  Noise noise(s.options.seed + static_cast<std::uint64_t>(s.faces));
  for (int start = 0; start < s.options.starts; ++start) {
    s.lesson.start(grey, truth, start, noise);
    for (std::size_t k = 0; k < s.model.maps.size(); ++k) {
      const CompactMap& map = s.model.maps[k];
      const Vector<float> z = s.lesson.see(k);
      const double weight = robust_weight(s.lesson.error(), s.options.robust);
      Vector<double> phi(z.size() + 1);
      phi << z.cast<double>(), 1;
      s.sums[k] += weight * phi * phi.transpose();
      if (!s.model.mirror.empty()) {
        phi.segment(map.even, map.rank() - map.even) *= -1;
        s.sums[k] += weight * phi * phi.transpose();
      }
      s.lesson.move(map.bias - map.left * z);
    }
  }
  ++s.faces;
}

Adaptation AdaptationLearner::finish() const {
  if (state_->faces == 0)
    throw Error("there are no faces to learn the adaptation state from, expected at least one");
  Adaptation result;
  result.fingerprint = face::fingerprint(state_->model);
  result.name = state_->model.name;
  result.provenance = state_->model.provenance;
  result.licence = state_->model.licence;
  for (Matrix<double> sum : state_->sums) {
    // Directions that no face showed must have an inverse too.
    const Index rank = sum.rows() - 1;
    sum.diagonal().array() += 1e-6 * sum.diagonal().head(rank).mean() + 1e-12;
    const Matrix<double> inverse = sum.llt().solve(Matrix<double>::Identity(rank + 1, rank + 1));
    result.inverse_covariances.push_back((inverse + inverse.transpose()) / 2);
  }
  return result;
}

}  // namespace sdm::face
