#include "sdm/face/model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/json.h"
#include "face/folding.h"
#include "face/mirror.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

constexpr std::pair<image::Normalisation, const char*> kNormalisations[] = {
    {image::Normalisation::none, "none"},
    {image::Normalisation::l2, "l2"},
    {image::Normalisation::l2_hys, "l2_hys"},
    {image::Normalisation::sqrt_l1, "sqrt_l1"}};

constexpr const char* kOnBase = "face-on-base";  // what older readers must not take for a "face"

std::string name_of(image::Normalisation normalisation) {
  for (const auto& [value, name] : kNormalisations)
    if (value == normalisation) return name;
  return "";
}

image::Normalisation normalisation_of(const std::string& text) {
  for (const auto& [value, name] : kNormalisations)
    if (text == name) return value;
  throw Error(formatted("the normalisation is '{}', expected none, l2, l2_hys or sqrt_l1", text));
}

void require(bool good, const std::string& message) {
  if (!good) throw Error("face model: " + message);
}

void put_stage(JsonWriter<nlohmann::json>& json, const StageRecipe& stage, const CompactMap& map) {
  json.put("cells", stage.cells).put("cell", stage.cell).put("redraw", stage.redraw);
  json.put("rank", map.rank()).put("even", map.even);
  if (!stage.points.empty()) json.put("points", stage.points);
  if (stage.shape_scale != 1) json.put("shape_scale", stage.shape_scale);
}

void put_convention(JsonWriter<nlohmann::json>& json, const BoxConvention& one) {
  json.put("detector", one.detector).put("scale", one.scale).put("dx", one.dx).put("dy", one.dy);
  json.put("sigma_x", one.sigma_x).put("sigma_y", one.sigma_y);
  json.put("sigma_log_scale", one.sigma_log_scale);
}

void put_header(JsonWriter<nlohmann::json>& json, const Model& model) {
  const Recipe& recipe = model.recipe;
  json.put("name", model.name).put("points", model.points()).put("mirror", model.mirror);
  json.objects("boxes", model.boxes, put_convention);
  json.put("unit", recipe.unit).put("canvas", recipe.canvas);
  json.put("shape_weight", recipe.shape_weight).put("normalisation", name_of(recipe.normalisation));
  json.put("subpixel", recipe.subpixel).put("patch_scale", recipe.patch_scale);
  std::size_t stage = 0;
  json.objects("stages", model.maps, [&](auto& one, const CompactMap& map) {
    put_stage(one, recipe.stages[stage++], map);
  });
  json.put("typical_step", model.typical_step);
  json.put("provenance", model.provenance).put("licence", model.licence);
  if (const auto& offset = model.label_offset; !offset.isZero(0))
    json.put("label_offset", std::vector{offset.x(), offset.y()});
  if (!model.point_names.empty()) json.put("point_names", model.point_names);
  if (model.base) json.object("base", [&](auto& inner) { put_header(inner, *model.base); });
}

}  // namespace

Similarity BoxConvention::similarity(const Box& box) const {
  return {scale * box.width, 0, box.x + 0.5F * (box.width - 1) + dx * box.width,
          box.y + 0.5F * (box.height - 1) + dy * box.width};
}

Box BoxConvention::box(const Similarity& similarity) const {
  const float width = similarity.scale() / scale;
  return {similarity.x - dx * width - 0.5F * (width - 1),
          similarity.y - dy * width - 0.5F * (width - 1), width, width};
}

const BoxConvention& Model::convention(const std::string& detector) const {
  require(!boxes.empty(), "it knows no detector's boxes");
  if (detector.empty()) return boxes.front();
  std::string known;
  for (const BoxConvention& one : boxes) {
    if (one.detector == detector) return one;
    known += (known.empty() ? "" : ", ") + one.detector;
  }
  throw Error(
      formatted("the model does not know the boxes of '{}', expected one of: {}", detector, known));
}

void Model::validate() const {
  const Index n = points();
  if (base) {
    require(!base->base, "its base has a base, expected one that starts from its mean shape");
    base->validate();
    require(from_base.rows() == 2 * n && from_base.cols() == 2 * base->points() &&
                from_base.allFinite(),
            formatted("the map from {} base points to {} is {} x {}, or not finite", base->points(),
                      n, from_base.rows(), from_base.cols()));
    require(!confidence.known(), "it has a base and a confidence, expected the base's alone");
  }
  // The base's answer may be as good as the pictures can tell.
  if (!base || !recipe.stages.empty()) recipe.validate();
  require(n >= 2 && n <= 4096, formatted("{} points, expected 2 to 4096", n));
  require(mean.allFinite(), "the mean shape is not finite");
  require(label_offset.norm() < 0.5F,
          formatted("the labels' offset is ({:g}, {:g}) units, expected less than half a unit",
                    label_offset.x(), label_offset.y()));
  if (!mirror.empty()) require_mirror(mirror, n);
  require(point_names.empty() || static_cast<Index>(point_names.size()) == n,
          formatted("{} names of points for {} points", point_names.size(), n));
  recipe.require_parts(n, mirror);
  const std::vector<float>& scale = recipe.patch_scale;
  require(scale.empty() || static_cast<Index>(scale.size()) == n,
          formatted("{} patch scales for {} points", scale.size(), n));
  if (!mirror.empty() && !scale.empty())
    for (std::size_t p = 0; p < scale.size(); ++p)
      require(scale[p] == scale[static_cast<std::size_t>(mirror[p])],
              formatted("point {} and its partner have patches of different sizes", p));
  require(shape3d.cols() == shape3d_weights.size() && (shape3d.cols() == 0 || shape3d.cols() == n),
          formatted("the 3D shape has {} points and {} weights, expected {} or none",
                    shape3d.cols(), shape3d_weights.size(), n));
  require(
      shape3d.allFinite() && shape3d_weights.allFinite() && (shape3d_weights.array() >= 0).all(),
      "the 3D shape or a weight of it is not finite, or a weight is negative");
  if (confidence.known()) {
    const auto whole = static_cast<std::size_t>(recipe.last_whole_stage());
    const Index wanted = Folding(recipe.stages[whole], n, mirror).size();
    require(
        confidence.weights.size() == wanted,
        formatted("the confidence has {} weights, expected {}", confidence.weights.size(), wanted));
    require(confidence.weights.allFinite() && std::isfinite(confidence.bias),
            "a weight of the confidence is not finite");
  }
  if (visibility.known()) {
    require(!base, "it has a base and a visibility of its points, expected none");
    const auto whole = static_cast<std::size_t>(recipe.last_whole_stage());
    const Index wanted =
        std::min(n, Visibility::kNear) * (Folding(recipe.stages[whole], n, mirror).features() / n);
    require(visibility.weights.rows() == wanted && visibility.weights.cols() == n &&
                visibility.bias.size() == n,
            formatted("the points' visibility has {} x {} weights, expected {} x {}",
                      visibility.weights.rows(), visibility.weights.cols(), wanted, n));
    require(visibility.weights.allFinite() && visibility.bias.allFinite(),
            "a weight of the points' visibility is not finite");
  }
  require(!boxes.empty(), "no box convention");
  for (const BoxConvention& one : boxes)
    require(
        one.scale > 0 && std::isfinite(one.scale) && std::isfinite(one.dx) && std::isfinite(one.dy),
        formatted("the boxes of '{}' have the scale {}", one.detector, one.scale));
  require(maps.size() == recipe.stages.size(),
          formatted("{} maps for {} stages", maps.size(), recipe.stages.size()));
  require(typical_step > 0, formatted("the typical step is {}", typical_step));
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const CompactMap& map = maps[i];
    const auto rank = static_cast<std::size_t>(map.rank());
    const Folding folding(recipe.stages[i], n, mirror);
    const Index moved = 2 * recipe.stages[i].count(n);
    require(map.values.type() == io::ElementType::i8 &&
                map.values.shape() == io::Shape{static_cast<std::size_t>(folding.size()), rank} &&
                map.scale.type() == io::ElementType::f32 && map.scale.shape() == io::Shape{1, rank},
            formatted("the values of stage {} are {} with the scale {}, expected i8 [{}, {}] "
                      "with f32 [1, {}]",
                      i, io::describe(map.values), io::describe(map.scale), folding.size(), rank,
                      rank));
    require(
        map.even >= 0 && map.even <= map.rank() && (folding.mirrored() || map.even == map.rank()),
        formatted("stage {} has {} even rows of {}", i, map.even, rank));
    require(map.left.rows() == moved && map.bias.size() == moved && map.shape.cols() == 2 * n &&
                map.shape.rows() == map.rank(),
            formatted("the factors of stage {} do not fit {} points", i, n));
    const auto scale = map.scale.as<float>();
    require(std::all_of(scale.begin(), scale.end(), [](float one) { return std::isfinite(one); }) &&
                map.left.allFinite() && map.bias.allFinite() && map.shape.allFinite(),
            formatted("stage {} holds numbers that are not finite", i));
  }
}

io::Model Model::to_model() const {
  validate();
  io::Model file;
  file.kind = base ? kOnBase : "face";
  if (base) {
    for (const auto& [tensor_name, tensor] : base->to_model().tensors)
      file.put("base." + tensor_name, tensor);
    file.put("from_base", io::to_tensor(from_base));
  }
  JsonWriter<nlohmann::json> header(1);
  put_header(header, *this);
  file.header = header.text();
  file.put("mean", io::to_tensor(mean));
  if (shape3d.cols() > 0) {
    file.put("shape3d", io::to_tensor(shape3d));
    file.put("shape3d.weight", io::to_tensor(shape3d_weights));
  }
  if (confidence.known()) {
    file.put("confidence", io::to_tensor(confidence.weights));
    file.put("confidence.bias", io::to_tensor(Vector<float>::Constant(1, confidence.bias).eval()));
  }
  if (visibility.known()) {
    file.put("visibility", io::to_tensor(visibility.weights));
    file.put("visibility.bias", io::to_tensor(visibility.bias));
  }
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const CompactMap& map = maps[i];
    const std::string stage = formatted("stage{}.", i);
    file.put(stage + "patches", map.values);
    file.put(stage + "patches.scale", map.scale);
    file.put(stage + "shape", io::to_tensor(map.shape));
    file.put(stage + "left", io::to_tensor(map.left));
    file.put(stage + "bias", io::to_tensor(map.bias));
  }
  return file;
}

Model Model::from_model(const io::Model& file) {
  if (file.kind != kOnBase) file.require_kind("face");
  Model model;
  try {
    auto header = nlohmann::json::parse(file.header);
    const Dismantling<nlohmann::json> after(header);
    model.name = header.at("name");
    model.provenance = header.at("provenance");
    model.licence = header.at("licence");
    model.mirror = numbers_at<int>(header, "mirror");
    if (header.contains("point_names"))
      model.point_names = header.at("point_names").get<std::vector<std::string>>();
    if (header.contains("label_offset")) {
      const std::vector<float> offset = numbers_at<float>(header, "label_offset");
      require(offset.size() == 2,
              formatted("the labels' offset has {} numbers, expected 2", offset.size()));
      model.label_offset << offset[0], offset[1];
    }
    model.typical_step = number_at<float>(header, "typical_step");
    model.recipe.unit = number_at<float>(header, "unit");
    model.recipe.canvas = number_at<float>(header, "canvas");
    model.recipe.shape_weight = number_at<float>(header, "shape_weight");
    model.recipe.normalisation = normalisation_of(header.at("normalisation"));
    model.recipe.subpixel = header.at("subpixel");
    model.recipe.patch_scale = numbers_at<float>(header, "patch_scale");
    for (const auto& one : header.at("boxes"))
      model.boxes.push_back({one.at("detector"), number_at<float>(one, "scale"),
                             number_at<float>(one, "dx"), number_at<float>(one, "dy"),
                             number_at<float>(one, "sigma_x"), number_at<float>(one, "sigma_y"),
                             number_at<float>(one, "sigma_log_scale")});
    model.mean = file.matrix<float>("mean", 2);
    const Index n = model.points();
    if (file.kind == kOnBase) {
      io::Model inner;
      inner.kind = "face";
      inner.header = json_text(header.at("base"));
      const std::string prefix = "base.";
      for (const auto& [name, tensor] : file.tensors)
        if (name.starts_with(prefix)) inner.put(name.substr(prefix.size()), tensor);
      model.base = std::make_shared<const Model>(from_model(inner));
      model.from_base = file.matrix<float>("from_base", 2 * n, 2 * model.base->points());
    }
    if (file.tensors.contains("shape3d")) {
      model.shape3d = file.matrix<float>("shape3d", 3, n);
      model.shape3d_weights = file.vector<float>("shape3d.weight", n);
    }
    if (file.tensors.contains("confidence")) {
      model.confidence.weights = file.vector<float>("confidence");
      model.confidence.bias = file.vector<float>("confidence.bias", 1)[0];
    }
    if (file.tensors.contains("visibility")) {
      model.visibility.weights = file.matrix<float>("visibility");
      model.visibility.bias = file.vector<float>("visibility.bias", n);
    }
    for (const auto& one : header.at("stages")) {
      const std::string stage = formatted("stage{}.", model.maps.size());
      model.recipe.stages.push_back(
          {number_at<int>(one, "cells"), number_at<float>(one, "cell"), one.at("redraw")});
      StageRecipe& part = model.recipe.stages.back();
      if (one.contains("points")) part.points = numbers_at<int>(one, "points");
      if (one.contains("shape_scale")) part.shape_scale = number_at<float>(one, "shape_scale");
      const auto rank = number_at<Index>(one, "rank");
      CompactMap map;
      map.values = file.tensor(stage + "patches");
      map.scale = file.tensor(stage + "patches.scale");
      map.even = number_at<Index>(one, "even");
      map.shape = file.matrix<float>(stage + "shape", rank, 2 * n);
      map.left = file.matrix<float>(stage + "left", 2 * part.count(n), rank);
      map.bias = file.vector<float>(stage + "bias", 2 * part.count(n));
      model.maps.push_back(std::move(map));
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(formatted("face model: the header is not one of a face model: {}", error.what()));
  }
  model.validate();
  return model;
}

}  // namespace sdm::face
