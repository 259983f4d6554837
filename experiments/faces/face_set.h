#pragma once

#include "experiments/registry.h"

namespace sdm::experiments {

/// The paper's protocol for LFW-A&C (section 6.3) on the labelled set context.set,
/// NAME=TRAIN,TEST: models are trained on the one file of annotations and measured on the other by
/// root mean square error in pixels, on the faces that were detected. Boxes are those of
/// TRAIN_boxes.csv and TEST_boxes.csv beside them, else of OpenCV's detector.
/// Throws Error: the files cannot be read, or their points differ.
Results run_face_set(const ExperimentContext& context);

}  // namespace sdm::experiments
