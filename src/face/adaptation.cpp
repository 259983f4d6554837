#include "sdm/face/adaptation.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/hash.h"
#include "base/json.h"
#include "sdm/base/error.h"

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
    for (const int point : stage.points) hash.add(point);
    if (stage.shape_scale != 1) hash.add(stage.shape_scale);
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

io::Model Adaptation::to_model() const {
  io::Model file;
  file.kind = "face-adaptation";
  JsonWriter<nlohmann::json> header(1);
  header.put("name", name).put("fingerprint", formatted("{:016x}", fingerprint));
  header.put("stages", inverse_covariances.size()).put("frames", frames);
  header.put("provenance", provenance).put("licence", licence);
  file.header = header.text();
  for (std::size_t k = 0; k < inverse_covariances.size(); ++k)
    file.put(formatted("stage{}.inverse_covariance", k), io::to_tensor(inverse_covariances[k]));
  return file;
}

Adaptation Adaptation::from_model(const io::Model& file) {
  file.require_kind("face-adaptation");
  Adaptation state;
  try {
    auto header = nlohmann::json::parse(file.header);
    const Dismantling<nlohmann::json> after(header);
    state.name = header.at("name");
    state.provenance = header.at("provenance");
    state.licence = header.at("licence");
    const std::string text = header.at("fingerprint");
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), state.fingerprint, 16);
    if (error != std::errc() || end != text.data() + text.size())
      throw Error(formatted(
          "adaptation state: the fingerprint is '{}', expected 16 hexadecimal digits", text));
    state.frames = number_at<decltype(state.frames)>(header, "frames");
    const auto stages = number_at<std::size_t>(header, "stages");
    for (std::size_t k = 0; k < std::min(stages, file.tensors.size()); ++k)
      state.inverse_covariances.push_back(
          file.matrix<double>(formatted("stage{}.inverse_covariance", k)));
  } catch (const nlohmann::json::exception& error) {
    throw Error(formatted("adaptation state: the header is not one: {}", error.what()));
  }
  return state;
}

}  // namespace sdm::face
