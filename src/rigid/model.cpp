
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "rigid/state.h"
#include "sdm/base/error.h"
#include "sdm/rigid/tracker.h"

namespace sdm::rigid {
namespace {

constexpr const char* kNormalisation = "l2";  // the only one that trackers use

nlohmann::ordered_json to_json(const Canvas& canvas) {
  return {{"width", canvas.width},
          {"height", canvas.height},
          {"unit", canvas.unit},
          {"cell", canvas.hog.cell},
          {"radius", canvas.hog.radius},
          {"epsilon", canvas.hog.epsilon},
          {"normalisation", kNormalisation}};
}

Canvas canvas_from(const nlohmann::json& json) {
  Canvas canvas;
  canvas.width = json.at("width");
  canvas.height = json.at("height");
  canvas.unit = json.at("unit");
  canvas.hog.cell = json.at("cell");
  canvas.hog.radius = json.at("radius");
  canvas.hog.epsilon = json.at("epsilon");
  canvas.hog.normalisation = image::Normalisation::l2;
  if (json.at("normalisation") != kNormalisation)
    throw Error(formatted("the tracker's HoG has a normalisation {}, expected \"{}\"",
                          json.at("normalisation").dump(), kNormalisation));
  return canvas;
}

}  // namespace

io::Model to_model(const TrackerModel& tracker, const std::string& provenance) {
  auto canvases = nlohmann::ordered_json::array();
  for (const Canvas& canvas : tracker.canvases) canvases.push_back(to_json(canvas));
  io::Model model;
  model.kind = "rigid";
  model.header =
      nlohmann::ordered_json{
          {"motion", to_string(tracker.motion)}, {"width", tracker.shape.width},
          {"height", tracker.shape.height},      {"lost_above", tracker.lost_above},
          {"stages", tracker.cascade.stages()},  {"stage_canvas", tracker.stage_canvas},
          {"canvases", std::move(canvases)},     {"provenance", provenance}}
          .dump();
  put_maps(model, tracker.cascade.maps);
  for (std::size_t i = 0; i < tracker.templates.size(); ++i)
    model.put(formatted("template{}", i), io::to_tensor(tracker.templates[i]));
  Matrix<double> search(9, static_cast<Index>(tracker.search.size()));
  for (Index i = 0; i < search.cols(); ++i)
    search.col(i) = tracker.search[static_cast<std::size_t>(i)].reshaped();
  model.put("search", io::to_tensor(search));
  model.put("start", io::to_tensor(Matrix<double>(tracker.start)));
  return model;
}

Tracker tracker_from_model(const io::Model& model) {
  model.require_kind("rigid");
  TrackerModel tracker;
  int stages = 0;
  try {
    const auto header = nlohmann::json::parse(model.header);
    tracker.motion = motion_from_string(header.at("motion"));
    tracker.shape = {header.at("width"), header.at("height")};
    tracker.lost_above = header.at("lost_above");
    stages = header.at("stages");
    tracker.stage_canvas = header.at("stage_canvas").get<std::vector<int>>();
    for (const auto& canvas : header.at("canvases"))
      tracker.canvases.push_back(canvas_from(canvas));
  } catch (const nlohmann::json::exception& error) {
    throw Error(formatted("the header of the tracker is not as expected: {}", error.what()));
  }
  tracker.cascade.maps = get_maps<float>(model, stages);
  tracker.cascade.state_size = kStateSize;
  for (std::size_t i = 0; i < tracker.canvases.size(); ++i)
    tracker.templates.push_back(model.vector<float>(formatted("template{}", i)));
  const Matrix<double> search = model.matrix<double>("search", 9);
  for (Index i = 0; i < search.cols(); ++i)
    tracker.search.emplace_back(search.col(i).reshaped(3, 3));
  tracker.start = model.matrix<double>("start", 3, 3);
  return Tracker(std::move(tracker));
}

}  // namespace sdm::rigid
