#include "apps/sdm/faces.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "apps/sdm/shipped_model.h"
#include "sdm/base/error.h"
#include "sdm/face/data/markup.h"
#include "sdm/opencv/detector.h"

namespace sdm::app {

const char* const kDetectorHelp =
    "Finds the faces: sdm (ours), sdm-free (ours, its licence free), a detector's .sdm file, "
    "haar_alt2, haar_default, a YuNet network "
    "(.onnx) or, with --detector-offset, a cascade file (.xml); default: sdm where it knows the "
    "model's points, else the model's own";

const char* const kOffsetHelp =
    "How to read a foreign detector's boxes: face unit (outer eye corners) in box widths, then x "
    "and y from the box's centre to the face's, in widths";

namespace {

bool is_ours(const std::string& detector) {
  return detector == "sdm" || detector == "sdm-free" || detector.ends_with(".sdm");
}

// The shipped detectors and the models that verify what they find.
std::string detector_file(const std::string& name) {
  return name == "sdm-free" ? "face-detector-free.sdm" : "face-detector.sdm";
}
std::string verifier_file(const std::string& name) {
  return name == "sdm-free" ? "face68-free-fast.sdm" : "face68-fast.sdm";
}

}  // namespace

face::DetectorModel load_detector(const std::string& name) {
  return face::DetectorModel::load(name.ends_with(".sdm") ? std::filesystem::path(name)
                                                          : shipped_file(detector_file(name)));
}

bool knows_its_boxes(const std::string& detector) {
  return is_ours(detector) || detector.ends_with(".onnx");
}

bool is_free(const std::string& licence) {
  constexpr std::array kFree = {"Apache-2.0", "MIT", "BSD", "CC0"};
  const bool free = std::any_of(kFree.begin(), kFree.end(),
                                [&](const char* name) { return licence.starts_with(name); });
  constexpr std::string_view kOfTheBase = "; of the base: ";  // which train --base adds
  const std::size_t base = licence.find(kOfTheBase);
  return free && (base == std::string::npos || is_free(licence.substr(base + kOfTheBase.size())));
}

face::Model load_face_model(const std::string& path, bool free) {
  if (!free) return face::Model::load(path.empty() ? shipped_file("face68.sdm") : model_file(path));
  std::string licence;
  for (const char* name : {"face68.sdm", "face68-free.sdm", "face68-free-fast.sdm"}) {
    const std::filesystem::path file = path.empty() ? shipped_file_or_none(name) : model_file(path);
    if (file.empty()) continue;
    face::Model model = face::Model::load(file);
    if (is_free(model.licence)) return model;
    licence = fmt::format("{}: its licence is not free: {}", file.string(), model.licence);
    if (!path.empty()) break;
  }
  throw Error(licence.empty() ? "no shipped face model is free" : licence);
}

face::BoxConvention box_convention(const face::Model& model, const std::string& detector,
                                   const std::vector<float>& offset) {
  if (offset.empty()) {
    if (is_ours(detector)) return load_detector(detector).convention();
    if (detector.ends_with(".onnx")) return opencv::yunet_convention();
    if (detector.ends_with(".xml"))
      throw CLI::ValidationError(
          fmt::format("--detector {}: how its boxes lie is not known, expected --detector-offset "
                      "SCALE DX DY, too",
                      detector));
    return model.convention(detector);
  }
  if (!(offset[0] > 0))
    throw CLI::ValidationError(
        fmt::format("--detector-offset: SCALE is {}, expected a positive number", offset[0]));
  face::BoxConvention convention = model.convention();
  if (!detector.empty()) convention.detector = detector;
  convention.scale = offset[0];
  convention.dx = offset[1];
  convention.dy = offset[2];
  return convention;
}

std::string detector_of(const face::BoxTable& boxes, const face::Model& model) {
  for (const face::BoxConvention& known : model.boxes)
    if (std::count(boxes.detectors.begin(), boxes.detectors.end(), known.detector) > 0)
      return known.detector;
  return model.convention().detector;
}

FaceFinder::FaceFinder(const face::Model& model, DetectorChoice choice)
    : model_(&model), choice_(std::move(choice)) {
  choice_.options.validate();
  constexpr Index kShippedPoints = 68;  // of the landmarks that face-detector.sdm was trained on
  std::string name = choice_.name;
  const bool is_file = name.ends_with(".sdm");
  const bool is_face = model.points() == kShippedPoints && model.point_names.empty() &&
                       (model.mirror.empty() || model.mirror == face::ibug(68).mirror);
  const bool is_default = name.empty() && choice_.offset.empty() && is_face &&
                          model.convention().detector != kWholePicture &&
                          !shipped_file_or_none(detector_file("sdm")).empty();
  if (is_default && is_free(model.licence) &&
      !shipped_file_or_none(detector_file("sdm-free")).empty())
    name = "sdm-free";
  if (app::is_ours(name) || is_default) {
    detector_model_ = std::make_shared<face::DetectorModel>(load_detector(name));
    convention_ = detector_model_->convention();
    if (is_file) return;  // of the model's own objects: it verifies
    if (model.points() != kShippedPoints)
      throw Error(
          fmt::format("the model has {} points and sdm's detector finds faces of {}: name "
                      "another with --detector, or train one (sdm train-detector)",
                      model.points(), kShippedPoints));
    const auto fast = shipped_file_or_none(verifier_file(name));
    if (!fast.empty()) verifier_ = std::make_shared<face::Model>(face::Model::load(fast));
    return;
  }
  convention_ = box_convention(model, name, choice_.offset);
  if (!name.empty()) return;
  choice_.name = convention_.detector;
  if (choice_.name != kWholePicture && !choice_.name.starts_with("haar_"))
    throw Error(fmt::format(
        "the model starts from the boxes of '{}': name that detector's file with --detector, or "
        "give the boxes with --boxes",
        choice_.name));
}

face::Detector FaceFinder::detector() const {
  if (!is_ours()) throw Error(fmt::format("'{}' is no detector of sdm's own", choice_.name));
  return {*detector_model_, verifier_ ? *verifier_ : *model_, choice_.options};
}

face::BoxDetector FaceFinder::box_detector() const {
  if (choice_.name == kWholePicture)
    return [](image::ByteView grey) {
      return std::vector<face::Box>{
          {0, 0, static_cast<float>(grey.width), static_cast<float>(grey.height)}};
    };
  if (is_ours()) {
    // The detector is not to outlive its models.
    auto keep = std::make_shared<FaceFinder>(*this);
    return [keep, boxes = face::box_detector(detector(), convention_)](image::ByteView grey) {
      return boxes(grey);
    };
  }
  opencv::DetectorOptions options;
  options.folder = choice_.cascades;
  constexpr float kUsualSize = 40;
  options.min_size = std::max(1, int(choice_.options.smallest.value_or(kUsualSize)));
  options.max_side = choice_.options.max_side;
  return opencv::make_detector(choice_.name, options);
}

face::BoxDetector FaceFinder::boxes_as(const face::BoxConvention& convention) const {
  return [find = find(), convention](image::ByteView grey) {
    std::vector<face::Box> boxes;
    for (const FoundFace& face : find(grey)) boxes.push_back(convention.box(face.start));
    return boxes;
  };
}

FaceFinder::Find FaceFinder::find() const {
  auto keep = std::make_shared<FaceFinder>(*this);
  if (is_ours()) {
    const auto ours = std::make_shared<face::Detector>(detector());
    return [keep, ours](image::ByteView grey) {
      std::vector<FoundFace> found;
      for (const face::DetectedFace& face : ours->detect(grey))
        found.push_back({face.box, face.place});
      return found;
    };
  }
  return [keep, boxes = box_detector()](image::ByteView grey) {
    std::vector<FoundFace> found;
    for (const face::Box& box : boxes(grey))
      if (box.width > 0 && box.height > 0)
        found.push_back({box, keep->convention_.similarity(box)});
    return found;
  };
}

}  // namespace sdm::app
