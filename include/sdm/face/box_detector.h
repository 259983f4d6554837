#pragma once

#include <functional>
#include <vector>

#include "sdm/face/shape.h"
#include "sdm/image/image_view.h"

namespace sdm::face {

/// Finds the faces of a grey picture, the largest first; none is a result. Anything that gives
/// boxes fits in. One detector a thread: a copy may share its state with the original.
using BoxDetector = std::function<std::vector<Box>(image::ByteView grey)>;

}  // namespace sdm::face
