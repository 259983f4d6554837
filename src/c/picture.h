#pragma once

#include <cstdint>
#include <vector>

#include "sdm/c.h"
#include "sdm/image/image_view.h"

namespace sdm::c {

/// The pixels as the library wants them: grey ones as they are, colours made grey in memory that is
/// kept for the next picture.
class Picture {
 public:
  /// Throws Error on a picture without pixels, of an unknown format or with rows that overlap.
  image::ByteView grey(const sdm_image* picture);

 private:
  std::vector<std::uint8_t> pixels_;
};

}  // namespace sdm::c
