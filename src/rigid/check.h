#pragma once

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/image/image_view.h"

namespace sdm::rigid {

inline void check_frame(image::ByteView frame) {
  if (frame.empty())
    throw Error(
        formatted("the frame is {} x {} px, expected a picture", frame.width, frame.height));
}

}  // namespace sdm::rigid
