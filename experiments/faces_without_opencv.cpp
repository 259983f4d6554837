#include "experiments/registry.h"

namespace sdm::experiments {

Results run_faces(const ExperimentContext&) {
  throw NoData("faces reads pictures, and this program was built without OpenCV");
}

}  // namespace sdm::experiments
