#pragma once

#include <filesystem>
#include <vector>

#include "apps/sdm/training_set.h"

namespace sdm::app {

/// Tells what models found in faces they had not seen: the error of each point in pixels, percent
/// and, where the annotations have one, in units of their scale, as a table on stdout, as JSON and
/// as SVG beside the model (MODEL.cross-validation.json, .svg). Labels that lie far from what was
/// found are listed, worst first, and drawn with their numbers (MODEL.doubtful.png).
void report_cross_validation(const TrainingSet& set, const std::vector<face::Shape>& found,
                             int parts, const std::filesystem::path& model);

/// The files it writes, in this order.
std::vector<std::filesystem::path> cross_validation_files(const std::filesystem::path& model);

}  // namespace sdm::app
