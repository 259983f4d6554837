#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sdm/descent/train/train.h"
#include "sdm/face/adaptation.h"
#include "sdm/face/model.h"
#include "sdm/image/image_view.h"
#include "sdm/io/model.h"
#include "tests/descent/problems.h"

// Small models of every kind with maps drawn at random: what the fuzzer starts from.
namespace sdm::fuzz {

/// Of six points, without a mirror.
face::Model small_face();

/// A name for each, the kind first.
std::vector<std::pair<std::string, io::Model>> small_models();

/// 64 x 64 pixels with something to see.
image::Image<std::uint8_t> small_picture();

/// Where six points of a face could be in it.
face::Shape small_truth();

/// What the checkpoint among the models belongs to.
struct SmallTraining {
  TanhProblem<double> problem{2, 4, 12, false, 1};
  TrainOptions options;
  explicit SmallTraining(std::string checkpoint);
};

}  // namespace sdm::fuzz
