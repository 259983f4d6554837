#include "sdm/face/detector_model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/json.h"
#include "sdm/base/error.h"
#include "sdm/image/gradient_channels.h"

namespace sdm::face {
namespace {

// Not all finite numbers: sums of them must be finite too.
constexpr float kLargest = 1e6F;

void require_detector(bool good, const std::string& message) {
  if (!good) throw Error("detector model: " + message);
}

bool is_moderate(float value) { return std::abs(value) <= kLargest; }

void check_window(int columns, int rows) {
  constexpr int kMost = DetectorModel::kMaxCells;
  require_detector(
      columns >= 1 && columns <= kMost && rows >= 1 && rows <= kMost,
      formatted("a window has {} x {} cells, expected 1 to {} a side", columns, rows, kMost));
}

void check_template(const DetectorTemplate& one, int features) {
  require_detector(static_cast<int>(one.weights.size()) == features,
                   formatted("the template '{}' has {} weights, expected {}", one.name,
                             one.weights.size(), features));
  require_detector(is_moderate(one.scale) && is_moderate(one.bias) && is_moderate(one.roll),
                   formatted("the template '{}' has the scale {}, the bias {} and the roll {}",
                             one.name, one.scale, one.bias, one.roll));
}

void put_template(JsonWriter<nlohmann::json>& json, const DetectorTemplate& one) {
  json.put("name", one.name).put("roll", one.roll).put("scale", one.scale).put("bias", one.bias);
}

DetectorTemplate to_template(const nlohmann::json& json, const io::Tensor& weights, int features,
                             std::size_t column) {
  DetectorTemplate one;
  one.name = json.at("name");
  one.roll = number_at<float>(json, "roll");
  one.scale = number_at<float>(json, "scale");
  one.bias = number_at<float>(json, "bias");
  const auto values = weights.as<std::int8_t>().subspan(column * static_cast<std::size_t>(features),
                                                        static_cast<std::size_t>(features));
  one.weights.assign(values.begin(), values.end());
  return one;
}

}  // namespace

int DetectorModel::features() const { return columns * rows * image::kBins; }

BoxConvention DetectorModel::convention() const {
  BoxConvention convention;
  convention.detector = "sdm";
  convention.scale = 1 / (cell * static_cast<float>(columns));
  convention.dx = convention.dy = 0;
  return convention;
}

void DetectorModel::validate() const {
  check_window(columns, rows);
  require_detector(cell >= 1e-3F && cell <= 10,
                   formatted("a cell is {} units large, expected 0.001 to 10", cell));
  require_detector(!templates.empty() && templates.size() <= kMaxTemplates,
                   formatted("{} templates, expected 1 to {}", templates.size(), kMaxTemplates));
  require_detector(is_moderate(threshold) && is_moderate(gate_threshold),
                   formatted("the thresholds are {} and {}", threshold, gate_threshold));
  for (const DetectorTemplate& one : templates) check_template(one, features());
  if (has_gate()) check_template(gate, features());
}

io::Model DetectorModel::to_model() const {
  validate();
  JsonWriter<nlohmann::json> header(1);
  header.put("name", name).put("columns", columns).put("rows", rows).put("cell", cell);
  header.put("threshold", threshold).objects("templates", templates, put_template);
  if (has_gate())
    header.object("gate", [&](auto& json) {
      put_template(json, gate);
      json.put("threshold", gate_threshold);
    });
  header.put("provenance", provenance).put("licence", licence);
  std::vector<std::int8_t> weights;
  for (const DetectorTemplate& one : templates)
    weights.insert(weights.end(), one.weights.begin(), one.weights.end());
  io::Model file;
  file.kind = "detector";
  file.header = header.text();
  const auto size = static_cast<std::size_t>(features());
  file.put("templates",
           io::to_tensor(std::span<const std::int8_t>(weights), {size, templates.size()}));
  if (has_gate())
    file.put("gate", io::to_tensor(std::span<const std::int8_t>(gate.weights), {size, 1}));
  return file;
}

DetectorModel DetectorModel::from_model(const io::Model& file) {
  file.require_kind("detector");
  DetectorModel model;
  try {
    auto header = nlohmann::json::parse(file.header);
    const Dismantling<nlohmann::json> after(header);
    model.name = header.at("name");
    model.provenance = header.value("provenance", "");
    model.licence = header.value("licence", "");
    model.columns = number_at<int>(header, "columns");
    model.rows = number_at<int>(header, "rows");
    model.cell = number_at<float>(header, "cell");
    model.threshold = number_at<float>(header, "threshold");
    const auto& templates = header.at("templates");
    // Before anything is multiplied or allocated.
    check_window(model.columns, model.rows);
    require_detector(
        templates.is_array() && !templates.empty() && templates.size() <= kMaxTemplates,
        formatted("{} templates, expected 1 to {}", templates.size(), kMaxTemplates));
    const auto weights_of = [&](const char* tensor, std::size_t columns) -> const io::Tensor& {
      const io::Tensor& weights = file.tensor(tensor);
      const io::Shape wanted{static_cast<std::size_t>(model.features()), columns};
      require_detector(weights.type() == io::ElementType::i8 && weights.shape() == wanted,
                       formatted("the tensor '{}' is {}, expected i8 [{}, {}]", tensor,
                                 io::describe(weights), wanted[0], wanted[1]));
      return weights;
    };
    const io::Tensor& weights = weights_of("templates", templates.size());
    for (std::size_t i = 0; i < templates.size(); ++i)
      model.templates.push_back(to_template(templates[i], weights, model.features(), i));
    if (header.contains("gate")) {
      model.gate = to_template(header["gate"], weights_of("gate", 1), model.features(), 0);
      model.gate_threshold = number_at<float>(header["gate"], "threshold");
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(formatted("detector model: the header is not one of a detector: {}", error.what()));
  }
  model.validate();
  return model;
}

}  // namespace sdm::face
