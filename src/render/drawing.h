#pragma once

#include <cstdint>

#include "render/studio.h"

namespace sdm::render {

/// One face, from its number alone. Thread-safe.
RenderedFace draw_face(const Studio& studio, std::uint64_t number);

}  // namespace sdm::render
