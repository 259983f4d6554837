#pragma once

#include <filesystem>
#include <string>

#include "sdm/face/data/annotations.h"

namespace sdm::app {

/// What a command writes annotations as.
enum class Format { csv, pts, pts_folder, tps, imglab, list };

/// As the name tells. Throws Error on an ending that tells none.
Format format_of(const std::filesystem::path& path);

/// Other formats have their boxes in a file beside them.
bool holds_boxes(Format format);

/// Absolute and normal, without a slash at its end.
std::filesystem::path whole(const std::filesystem::path& path);

/// The folder that pictures are named relative to in the written file.
std::filesystem::path folder_of(const std::filesystem::path& output, Format format);

/// The same annotations with pictures named relative to the folder, as the written file has to.
face::Annotations moved(face::Annotations annotations, const std::filesystem::path& folder);

/// imglab has no faces without boxes: one without gets the whole picture. Gives how many did.
/// Throws Error where there are several faces in that picture.
int give_whole_pictures(face::Annotations& annotations);

/// Replaces the one file of a format that has one.
void write_annotation_file(const std::filesystem::path& output,
                           const face::Annotations& annotations, Format format);

/// The boxes of all faces, as a file beside the annotations has them.
void write_boxes(const std::filesystem::path& path, const face::Annotations& annotations,
                 const std::string& detector);

}  // namespace sdm::app
