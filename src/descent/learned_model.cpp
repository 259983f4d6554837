#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/json.h"
#include "sdm/base/error.h"
#include "sdm/descent/learned.h"

namespace sdm {
namespace {

constexpr Index kMostBits = 10;  // a thousand cells

void require(bool good, const std::string& message) {
  if (!good) throw Error("the learned model " + message);
}

void require_size(const char* what, Index found, Index expected) {
  require(found == expected, formatted("has {} {}, expected {}", found, what, expected));
}

template <class Values>
void require_finite(const char* what, const Values& values) {
  require(values.allFinite(), formatted("has {} that are not finite", what));
}

const std::vector<std::pair<Compression, const char*>> kCompressions = {
    {Compression::kNone, "none"}, {Compression::kRoot, "root"}, {Compression::kAsinh, "asinh"}};

std::vector<double> list(const Vector<double>& values) {
  return {values.data(), values.data() + values.size()};
}

Vector<double> vector(const nlohmann::json& values) {
  const auto numbers = values.get<std::vector<double>>();
  return Eigen::Map<const Vector<double>>(numbers.data(), static_cast<Index>(numbers.size()));
}

}  // namespace

void LearnedModel::validate() const {
  const Index n = states(), q = components.rows();
  require(n > 0, "has no axes, expected at least one");
  require(features > 0, formatted("has {} features, expected at least one", features));
  require_size("weights", weight.size(), features);
  require_size("columns of components", components.cols(), features);
  require(q > 0 && q <= features, formatted("has {} components of {} features", q, features));
  require_finite("weights", weight);
  require_finite("components", components);
  if (compression == Compression::kAsinh) {
    require_size("centres", centre.size(), features);
    require_size("scales", scale.size(), features);
    require_finite("centres", centre);
    require(scale.allFinite() && (scale.array() > 0).all(), "has a scale that is not above zero");
  }
  if (!has_start_rule) {
    require_size("values of the start", start.size(), n);
    require_size("features at the start", at_start.size(), features);
    require_finite("values of the start", start);
    require_finite("features at the start", at_start);
  }
  if (noise.size() > 0) {
    require_size("noise deviations", noise.size(), features);
    require(noise.allFinite() && (noise.array() > 0).all(),
            "has a noise deviation that is not above zero");
  }
  require(!stages.empty(), "has no stages, expected at least one");
  for (const LearnedStage& stage : stages) {
    require(stage.order >= 0 && stage.order <= 2,
            formatted("has a stage of order {}, expected 0, 1 or 2", stage.order));
    const Index bits = stage.offsets.size();
    require(bits <= kMostBits,
            formatted("has {} axes in a stage, expected up to {}", bits, kMostBits));
    require_size("rows of axes", stage.axes.rows(), bits);
    if (bits > 0) require_size("columns of axes", stage.axes.cols(), n + q);
    require_finite("axes", stage.axes);
    require_finite("offsets", stage.offsets);
    require_size("cells", static_cast<Index>(stage.maps.size()), Index{1} << bits);
    for (const Block<double>& map : stage.maps) {
      require_size("rows of a map", map.rows(), n * polynomial_terms(n, stage.order));
      require_size("columns of a map", map.cols(), q + 1);
      require_finite("maps", map);
    }
  }
  require(reach >= 1 && reach <= 10, formatted("reaches to {}, expected 1 to 10", reach));
  require_size("rows of scales", gate.log_scales.rows(), n + 1);
  require(polynomial_order(n, gate.log_scales.cols()) >= 0,
          formatted("has {} columns of scales, expected a polynomial of {} values",
                    gate.log_scales.cols(), n));
  require_finite("scales", gate.log_scales);
  require(std::isfinite(gate.residual) && std::isfinite(gate.step) && std::isfinite(gate.overshoot),
          "has a gate that is not finite");
  require(
      std::is_sorted(gate.scores.begin(), gate.scores.end()) &&
          std::none_of(gate.scores.begin(), gate.scores.end(), [](float s) { return !(s >= 0); }),
      "has scores that are not ascending from zero");
  require_size("rows of example states", example_states.rows(), n);
  require_size("rows of example components", example_components.rows(), q);
  require_size("example components", example_components.cols(), example_states.cols());
  require_finite("example states", example_states);
  require_finite("example components", example_components);
  require_size("errors", record.error.size(), n);
  require_size("medians", record.median.size(), n);
}

io::Model LearnedModel::to_model() const {
  io::Model model;
  model.kind = "learned";
  JsonWriter<nlohmann::json> header;
  header.objects("axes", box.axes(), [](auto& json, const Axis& axis) {
    json.put("high", axis.high).put("log", axis.scale == Axis::Scale::kLog);
    json.put("low", axis.low).put("name", axis.name);
  });
  for (const auto& [value, word] : kCompressions)
    if (value == compression) header.put("compression", word);
  header.object("gate", [&](auto& json) {
    json.put("overshoot", gate.overshoot).put("residual", gate.residual).put("step", gate.step);
  });
  header.put("noise", record.noise).put("reach", reach);
  header.object("record", [&](auto& json) {
    json.put("calibration", record.calibration).put("error", list(record.error));
    json.put("evaluations", record.evaluations).put("held_out", record.held_out);
    json.put("median", list(record.median)).put("refined", record.refined);
    json.put("refused", record.refused).put("samples", record.samples);
    json.put("seconds", record.seconds);
  });
  header.objects("stages", stages, [](auto& json, const LearnedStage& stage) {
    json.put("cells", stage.maps.size()).put("order", stage.order);
  });
  header.put("start_rule", has_start_rule);
  model.header = header.text();
  model.put("weight", io::to_tensor(weight));
  model.put("components", io::to_tensor(components));
  if (compression == Compression::kAsinh) {
    model.put("centre", io::to_tensor(centre));
    model.put("scale", io::to_tensor(scale));
  }
  if (!has_start_rule) {
    model.put("start", io::to_tensor(start));
    model.put("at_start", io::to_tensor(at_start));
  }
  if (noise.size() > 0) model.put("noise", io::to_tensor(noise));
  for (std::size_t k = 0; k < stages.size(); ++k) {
    if (stages[k].offsets.size() > 0) {
      model.put(formatted("stage{}.axes", k), io::to_tensor(stages[k].axes));
      model.put(formatted("stage{}.offsets", k), io::to_tensor(stages[k].offsets));
    }
    for (std::size_t c = 0; c < stages[k].maps.size(); ++c)
      model.put(formatted("stage{}.cell{}", k, c), io::to_tensor(stages[k].maps[c]));
  }
  model.put("gate.log_scales", io::to_tensor(gate.log_scales));
  model.put("gate.scores", io::to_tensor(gate.scores));
  model.put("example_states", io::to_tensor(example_states));
  model.put("example_components", io::to_tensor(example_components));
  return model;
}

LearnedModel LearnedModel::from_model(const io::Model& model) {
  model.require_kind("learned");
  LearnedModel m;
  try {
    auto header = nlohmann::json::parse(model.header);
    const Dismantling<nlohmann::json> after(header);
    std::vector<Axis> axes;
    for (const auto& axis : header.at("axes"))
      axes.push_back({number_at<double>(axis, "low"), number_at<double>(axis, "high"),
                      axis.at("log").get<bool>() ? Axis::Scale::kLog : Axis::Scale::kLinear,
                      axis.at("name").get<std::string>()});
    m.box = Box(std::move(axes));
    const auto word = header.at("compression").get<std::string>();
    bool known = false;
    for (const auto& [value, text] : kCompressions)
      if (word == text) m.compression = value, known = true;
    require(known, formatted("has the compression '{}', expected none, root or asinh", word));
    m.has_start_rule = header.at("start_rule").get<bool>();
    m.reach = number_at<double>(header, "reach");
    m.record.noise = header.at("noise").get<std::string>();
    const auto& gate = header.at("gate");
    m.gate.residual = number_at<double>(gate, "residual");
    m.gate.step = number_at<double>(gate, "step");
    m.gate.overshoot = number_at<double>(gate, "overshoot");
    const auto& record = header.at("record");
    m.record.samples = number_at<Index>(record, "samples");
    m.record.calibration = number_at<Index>(record, "calibration");
    m.record.evaluations = number_at<Index>(record, "evaluations");
    m.record.seconds = number_at<double>(record, "seconds");
    m.record.held_out = record.at("held_out").get<std::vector<double>>();
    m.record.error = vector(record.at("error"));
    m.record.median = vector(record.at("median"));
    m.record.refused = number_at<double>(record, "refused");
    m.record.refined = number_at<double>(record, "refined");

    m.weight = model.vector<double>("weight");
    m.features = m.weight.size();
    m.components = model.matrix<double>("components");
    if (m.compression == Compression::kAsinh) {
      m.centre = model.vector<double>("centre");
      m.scale = model.vector<double>("scale");
    }
    if (!m.has_start_rule) {
      m.start = model.vector<double>("start");
      m.at_start = model.vector<double>("at_start");
    }
    if (model.tensors.contains("noise")) m.noise = model.vector<double>("noise");
    std::size_t k = 0;
    for (const auto& entry : header.at("stages")) {
      LearnedStage stage;
      stage.order = number_at<int>(entry, "order");
      const auto cells = number_at<std::size_t>(entry, "cells");
      require(cells >= 1 && cells <= model.tensors.size(),
              formatted("says {} cells in stage {}, which it does not have", cells, k));
      if (cells > 1) {
        stage.axes = model.matrix<double>(formatted("stage{}.axes", k));
        stage.offsets = model.vector<double>(formatted("stage{}.offsets", k));
      }
      for (std::size_t c = 0; c < cells; ++c)
        stage.maps.emplace_back(model.matrix<double>(formatted("stage{}.cell{}", k, c)));
      m.stages.push_back(std::move(stage));
      ++k;
    }
  } catch (const nlohmann::json::exception& e) {
    throw Error(formatted("the header of the learned model is not as expected: {}", e.what()));
  }
  m.gate.log_scales = model.matrix<double>("gate.log_scales");
  const Vector<float> scores = model.vector<float>("gate.scores");
  m.gate.scores.assign(scores.data(), scores.data() + scores.size());
  m.example_states = model.matrix<double>("example_states");
  m.example_components = model.matrix<double>("example_components");
  m.validate();
  return m;
}

}  // namespace sdm
