#pragma once

#include <string>
#include <vector>

#include "sdm/face/train/trainer.h"

namespace sdm::peers {

/// Settings of dlib's shape_predictor_trainer; these are its own.
struct TreeOptions {
  int cascades = 10;
  int trees = 500;  // of each cascade
  int depth = 4;
  double nu = 0.1;
  int oversampling = 20;  // starts of each face
  double padding = 0;     // of the region that features are drawn from
  int threads = 1;

  std::string text() const;
};

/// Whether this program was built with dlib.
bool have_dlib_trees();

/// What dlib's regression trees (Kazemi and Sullivan) find on faces they have not seen.
struct TreeAnswers {
  std::vector<face::Shape> points;
  double train_seconds = 0;  // by the wall's clock
};

/// Trains on the first box of each face, and on its mirror image where `mirror` is given, and finds
/// the points of `test` from their first boxes. dlib takes and gives whole pixels. Throws: built
/// without dlib; a face has no box.
TreeAnswers dlib_trees(const std::vector<face::TrainingFace>& faces,
                       const std::vector<face::TrainingFace>& test, const TreeOptions& options,
                       const std::vector<int>& mirror = {});

}  // namespace sdm::peers
