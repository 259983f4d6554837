
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/json.h"
#include "descent/map_tensors.h"
#include "rigid/state.h"
#include "sdm/base/error.h"
#include "sdm/rigid/tracker.h"

namespace sdm::rigid {
namespace {

constexpr const char* kNormalisation = "l2";  // the only one that trackers use

void put_canvas(JsonWriter<nlohmann::json>& json, const Canvas& canvas) {
  json.put("width", canvas.width).put("height", canvas.height).put("unit", canvas.unit);
  json.put("cell", canvas.hog.cell).put("radius", canvas.hog.radius);
  json.put("epsilon", canvas.hog.epsilon).put("normalisation", kNormalisation);
}

Canvas canvas_from(const nlohmann::json& json) {
  Canvas canvas;
  canvas.width = number_at<int>(json, "width");
  canvas.height = number_at<int>(json, "height");
  canvas.unit = number_at<double>(json, "unit");
  canvas.hog.cell = number_at<int>(json, "cell");
  canvas.hog.radius = number_at<int>(json, "radius");
  canvas.hog.epsilon = number_at<float>(json, "epsilon");
  canvas.hog.normalisation = image::Normalisation::l2;
  if (json.at("normalisation").get_ref<const std::string&>() != kNormalisation)
    throw Error(formatted("the tracker's HoG has a normalisation {}, expected \"{}\"",
                          json_text(json.at("normalisation")), kNormalisation));
  return canvas;
}

}  // namespace

void TrackerModel::validate() const {
  const auto require = [](bool good, const char* message) {
    if (!good) throw Error(message);
  };
  require(!canvases.empty() && canvases.size() == templates.size(),
          "the tracker's model needs a template for each of its canvases, and at least one");
  require(stage_canvas.size() == cascade.maps.size(),
          "the tracker's model needs a canvas for each of its stages");
  require(shape.width > 0 && shape.height > 0 && shape.width <= kTemplateSide &&
              shape.height <= kTemplateSide,
          "the template of the tracker's model has no sensible shape");
  std::vector<Canvas> all = canvases;
  if (pixels.known()) all.push_back(pixels.canvas);
  for (const Canvas& canvas : all) {
    canvas.hog.validate();
    require(canvas.hog.normalisation == image::Normalisation::l2,
            "a canvas of the tracker's model has another normalisation than l2");
    const int most = image::DenseHogOptions::kMaxCells * canvas.hog.cell;
    require(canvas.unit > 0 && canvas.unit <= kTemplateSide && canvas.width >= canvas.hog.cell &&
                canvas.height >= canvas.hog.cell && canvas.width <= most && canvas.height <= most,
            "a canvas of the tracker's model has no sensible size");
  }
  for (std::size_t i = 0; i < canvases.size(); ++i)
    require(templates[i].size() == canvases[i].feature_size(),
            "a template of the tracker's model does not fit its canvas");
  for (std::size_t k = 0; k < stage_canvas.size(); ++k) {
    const int canvas = stage_canvas[k];
    require(canvas >= 0 && canvas < static_cast<int>(canvases.size()),
            "a stage of the tracker's model looks at a canvas that is not there");
    require(cascade.maps[k].feature_size() ==
                    canvases[static_cast<std::size_t>(canvas)].feature_size() &&
                cascade.maps[k].delta_size() == parameter_count(motion),
            "a map of the tracker's model does not fit its canvas or motion");
  }
  require(cascade.state_size == kStateSize, "the tracker's cascade is not one of warps");
  if (pixels.known()) {
    const Index size = Index(pixels.canvas.width) * pixels.canvas.height;
    require(pixels.pixels.size() == size && pixels.slope_u.size() == size &&
                pixels.slope_v.size() == size && pixels.blurs.rows() == size &&
                pixels.blurs.cols() == PixelTemplate::kBlurs,
            "the pixels of the tracker's model do not fit their canvas");
    require(pixels.pixels.allFinite() && pixels.slope_u.allFinite() && pixels.slope_v.allFinite() &&
                pixels.blurs.allFinite(),
            "a pixel of the tracker's model is not finite");
  }
  require(!score.known() || (score.weights.size() == kScoreFeatures && pixels.known()),
          "the score of the tracker's model does not fit");
  require(!scan || score.known(), "the tracker's model scans frames without a score");
}

io::Model TrackerModel::to_model() const {
  JsonWriter<nlohmann::json> header;
  header.put("motion", to_string(motion)).put("width", shape.width).put("height", shape.height);
  header.put("lost_above", lost_above).put("stages", cascade.stages());
  header.put("stage_canvas", stage_canvas).objects("canvases", canvases, put_canvas);
  if (pixels.known())
    header.object("pixels", [&](auto& json) { put_canvas(json, pixels.canvas); });
  else
    header.put("pixels", nullptr);
  header.put("scored", score.known()).put("scan", scan).put("provenance", provenance);
  io::Model model;
  model.kind = "rigid";
  model.header = header.text();
  if (pixels.known()) {
    model.put("pixels", io::to_tensor(pixels.pixels));
    model.put("slope_u", io::to_tensor(pixels.slope_u));
    model.put("slope_v", io::to_tensor(pixels.slope_v));
    model.put("blurs", io::to_tensor(pixels.blurs));
  }
  if (score.known()) {
    Vector<float> line(kScoreFeatures + 1);
    line << score.weights, score.bias;
    model.put("score", io::to_tensor(line));
  }
  put_maps(model, "", cascade.maps);
  for (std::size_t i = 0; i < templates.size(); ++i)
    model.put(formatted("template{}", i), io::to_tensor(templates[i]));
  Matrix<double> places(9, static_cast<Index>(search.size()));
  for (Index i = 0; i < places.cols(); ++i)
    places.col(i) = search[static_cast<std::size_t>(i)].reshaped();
  model.put("search", io::to_tensor(places));
  model.put("start", io::to_tensor(Matrix<double>(start)));
  return model;
}

TrackerModel TrackerModel::from_model(const io::Model& model) {
  model.require_kind("rigid");
  TrackerModel tracker;
  int stages = 0;
  bool polished = false, scored = false;
  try {
    auto header = nlohmann::json::parse(model.header);
    const Dismantling<nlohmann::json> after(header);
    tracker.motion = motion_from_string(header.at("motion"));
    tracker.shape = {number_at<double>(header, "width"), number_at<double>(header, "height")};
    tracker.lost_above = number_at<double>(header, "lost_above");
    tracker.provenance = header.at("provenance");
    stages = number_at<int>(header, "stages");
    tracker.stage_canvas = numbers_at<int>(header, "stage_canvas");
    for (const auto& canvas : header.at("canvases"))
      tracker.canvases.push_back(canvas_from(canvas));
    // Trackers of earlier versions have none of these.
    polished = header.contains("pixels") && !header["pixels"].is_null();
    if (polished) tracker.pixels.canvas = canvas_from(header["pixels"]);
    scored = header.value("scored", false);
    tracker.scan = header.value("scan", false);
  } catch (const nlohmann::json::exception& error) {
    throw Error(formatted("the header of the tracker is not as expected: {}", error.what()));
  }
  tracker.cascade.maps = get_maps<float>(model, "", stages);
  tracker.cascade.state_size = kStateSize;
  for (std::size_t i = 0; i < tracker.canvases.size(); ++i)
    tracker.templates.push_back(model.vector<float>(formatted("template{}", i)));
  if (polished) {
    tracker.pixels.pixels = model.vector<float>("pixels");
    tracker.pixels.slope_u = model.vector<float>("slope_u");
    tracker.pixels.slope_v = model.vector<float>("slope_v");
    tracker.pixels.blurs = model.matrix<float>("blurs");
  }
  if (scored) {
    const Vector<float> line = model.vector<float>("score", kScoreFeatures + 1);
    tracker.score = {line.head(kScoreFeatures), line[kScoreFeatures]};
  }
  const Matrix<double> search = model.matrix<double>("search", 9);
  for (Index i = 0; i < search.cols(); ++i)
    tracker.search.emplace_back(search.col(i).reshaped(3, 3));
  tracker.start = model.matrix<double>("start", 3, 3);
  tracker.validate();
  return tracker;
}

}  // namespace sdm::rigid
