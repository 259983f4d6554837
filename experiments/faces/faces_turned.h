#pragma once

#include <filesystem>

#include "experiments/registry.h"
#include "sdm/face/data/methods.h"

namespace sdm::experiments {

/// What is measured on turned faces, and the boxes it starts from, by their name in the boxes file.
struct TurnedMethod {
  face::Method method;
  std::string detector;
};

/// Error by yaw: the faces of dev.csv that look at the camera, drawn turned (face/train/
/// turned_face.h), and all of them as they are, by their own yaw. `model` knows the points in
/// space. Adds rows and exhibits. Does nothing where the folder has no dev.csv or dev_boxes.csv.
void measure_turned(const ExperimentContext& context, const std::filesystem::path& folder,
                    const face::Model& model, const std::vector<TurnedMethod>& methods,
                    Results& results);

}  // namespace sdm::experiments
