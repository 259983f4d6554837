#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/plot.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/roc.h"
#include "sdm/face/model.h"

namespace sdm::app {

/// The score of fits that are good and of fits that fail, on the same faces: from where a detector
/// and a tracker would start, and from places where no face is (sdm/face/trial.h). Faces with a
/// missing point, and those whose picture cannot be read, are left out. Throws Error if the points
/// are not the model's.
face::Roc score_curve(const face::Model& model, const face::Annotations& truth, std::uint64_t seed,
                      int threads);

nlohmann::ordered_json score_json(const face::Roc& curve);
std::string score_table(const std::vector<std::string>& names,
                        const std::vector<face::Roc>& curves);
report::LineChart score_chart(const std::vector<std::string>& names,
                              const std::vector<face::Roc>& curves);

}  // namespace sdm::app
