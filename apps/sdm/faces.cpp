#include "apps/sdm/faces.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/sdm/shipped_model.h"

namespace sdm::app {

face::Model load_face_model(const std::string& path) {
  return path.empty() ? shipped_face_model() : face::Model::load(path);
}

face::BoxConvention box_convention(const face::Model& model, const std::string& detector,
                                   const std::vector<float>& offset) {
  if (offset.empty()) return model.convention(detector);
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

}  // namespace sdm::app
