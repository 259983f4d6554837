#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/registry.h"
#include "experiments/tracking/moved_stills.h"

namespace sdm::experiments {

/// A video of one face with the truth of every frame, 68 points; NaN where one is not known.
struct FaceSequence {
  std::string name;
  int frames = 0;
  std::function<MovedFrame(int)> frame;  // thread-safe
};

struct FaceSequences {
  std::string source;  // in words
  std::string kind;    // "moved_stills", "video" or the name of a set
  std::vector<FaceSequence> all;
};

/// Moved stills (moved_stills.h), one for each labelled face; or, where context.data names a file
/// of annotations, real video: its pictures are frames in order, a sequence for each folder. So too
/// where context.set is NAME=WHERE, a folder of .pts files beside their frames or a file.
/// Throws NoData without any, Error on annotations that are not of the 68 points.
FaceSequences load_face_sequences(const ExperimentContext& context);

}  // namespace sdm::experiments
