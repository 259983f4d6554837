#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiments/registry.h"
#include "sdm/pose/camera.h"

namespace sdm::experiments {

/// An object of the pose experiment: millimetres, centred, upright and facing the camera (which
/// looks along +z with y down).
struct PoseObject {
  std::string name, source;
  pose::Points3 points;
};

/// A file of the development data's folder pose/; empty where it is not there.
std::optional<std::filesystem::path> pose_data(const ExperimentContext& context,
                                               const std::string& name);

/// The 68 landmarks of the ICT face where the development data is, else those our face model
/// learned.
PoseObject face_object(const ExperimentContext& context);
/// Points spread over the MakeHuman mesh where the development data is, else a figure of capsules.
PoseObject body_object(const ExperimentContext& context);
/// Points spread over any OBJ file, scaled to a radius of 150 mm.
PoseObject file_object(const std::filesystem::path& path);

}  // namespace sdm::experiments
