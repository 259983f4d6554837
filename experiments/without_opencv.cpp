#include "experiments/registry.h"

namespace sdm::experiments {

Results run_detection(const ExperimentContext&) {
  throw NoData("detection reads pictures, and this program was built without OpenCV");
}

Results run_faces(const ExperimentContext&) {
  throw NoData("faces reads pictures, and this program was built without OpenCV");
}

Results run_landmarks(const ExperimentContext&) {
  throw NoData("landmarks reads pictures, and this program was built without OpenCV");
}

Results run_tracking(const ExperimentContext&) {
  throw NoData("tracking reads pictures, and this program was built without OpenCV");
}

}  // namespace sdm::experiments
