#pragma once

#include <filesystem>

#include "apps/sdm/output.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/markup.h"

namespace sdm::app {

/// How every command reads annotations: pictures tell their size. `pictures` is the folder of
/// --images, or empty.
face::ReadOptions read_options(bool skip_bad, const std::filesystem::path& pictures = {});

/// The size of a picture, from its header where that tells it.
face::PictureSize size_of_picture(const std::filesystem::path& path);

/// What is known of the points: a face's only if they have no names of their own.
face::Markup markup_of(const face::Annotations& annotations);

/// Warns of what makes little sense (sdm/face/data/sense.h), with FILE:LINE, on stderr. Throws
/// Error then if `strict`.
void report_sense(const face::Annotations& annotations, bool strict, int threads);

/// The pictures and the files that annotations were read from, as inputs.
void add_inputs(Outputs& outputs, const face::Annotations& annotations);

extern const char* const kImagesHelp;
extern const char* const kStrictHelp;

}  // namespace sdm::app
