#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/face/data/annotations.h"
#include "sdm/io/file.h"

// What the readers of annotations share.
namespace sdm::face {

/// `to_number` within what pictures can have, so that no size made of it overflows.
double to_pixels(std::string_view text);
/// The same, with NaN for an empty text and for `nan`.
double to_coordinate(std::string_view text);

/// Throws: a point of which one coordinate is known and the other is not.
void check_pairs(const Shape& points);

/// 0, 1, ... count - 1.
std::vector<int> first_ids(std::size_t count);

/// Before room is made for every point of every face. Throws: nearly all of them would be missing,
/// as in a file made to fill the memory.
void require_room(const std::filesystem::path& path, const ReadOptions& options, std::size_t faces,
                  std::size_t points, std::size_t known);

/// Throws: the file lies outside of ReadOptions::root, or its name has a zero byte.
void require_inside(const ReadOptions& options, const std::filesystem::path& file);

/// Where pictures are named relative to.
std::filesystem::path pictures_folder(const std::filesystem::path& annotations,
                                      const ReadOptions& options);

/// NAME:LINE, as TextLines::fail says it.
std::string place(const TextLines& file, std::size_t index);

/// Does `read`; where that throws and options allow it, tells in `annotations` and goes on.
template <class Read>
void read_or_skip(Annotations& annotations, const ReadOptions& options, Read&& read) {
  try {
    read();
  } catch (const Error& error) {
    if (!options.skip_bad) throw;
    annotations.skipped.emplace_back(error.what());
  }
}

/// What every reader ends with. Throws: no face was found; a picture may not be named; the name of
/// a point is no UTF-8, which a model file could not keep.
Annotations checked(Annotations annotations, const std::filesystem::path& path,
                    const ReadOptions& options);

/// One .pts file, 0-based.
Shape read_pts_points(const std::filesystem::path& path, const ReadOptions& options);

}  // namespace sdm::face
