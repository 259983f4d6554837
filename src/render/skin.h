#pragma once

#include <filesystem>

#include "render/layout.h"

namespace sdm::render {

/// Where on a MakeHuman skin each pixel of the layout's canvas is: texture coordinates, the second
/// one from below; -1: nowhere.
struct SkinMap {
  Field u{Layout::kWidth, Layout::kHeight, -1}, v{Layout::kWidth, Layout::kHeight, -1};
};

/// Bends MakeHuman's head onto ours by a spline through places that were paired by eye, and unrolls
/// it. Throws Error naming the file: no group "body", or no texture coordinates.
SkinMap map_skin(const std::filesystem::path& mesh, const HeadModel& head);

/// A skin on the canvas, linear, divided by its own mean over the face.
Field carry_skin(image::ByteView texture, const SkinMap& map, const Layout& layout);

}  // namespace sdm::render
