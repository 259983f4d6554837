#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sdm/base/error.h"
#include "sdm/face/data/annotations.h"

namespace sdm::face {

/// A text file as lines, without line ends and without a byte order mark.
struct TextFile {
  std::filesystem::path path;
  std::string text;
  std::vector<std::string_view> lines;

  explicit TextFile(const std::filesystem::path& path);
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  /// Throws an Error that begins with FILE:LINE; `index` counts from 0, lines from 1.
  [[noreturn]] void fail(std::size_t index, const std::string& what) const;
};

/// Throws Error naming the file.
void write_text(const std::filesystem::path& path, const std::string& text);

/// Without the blanks around it.
std::string_view stripped(std::string_view text);
/// Cells between commas, trimmed; a cell in quotes may hold commas, and quotes written twice.
std::vector<std::string> split_cells(std::string_view line);
/// Words between blanks; one in double quotes may hold blanks.
std::vector<std::string> split_words(std::string_view line);
/// The opposite of split_cells and split_words: quotes where they are needed.
std::string quoted(const std::string& text);

/// A finite number, or nothing but that: throws Error with the text and what was expected.
double to_number(std::string_view text);
/// The same, with NaN for an empty text and for `nan`.
double to_coordinate(std::string_view text);

/// Throws: a point of which one coordinate is known and the other is not.
void check_pairs(const Shape& points);

/// 0, 1, ... count - 1.
std::vector<int> first_ids(std::size_t count);

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

/// What every reader ends with. Throws: no face was found.
Annotations checked(Annotations annotations, const std::filesystem::path& path);

/// One .pts file, 0-based.
Shape read_pts_points(const std::filesystem::path& path);

}  // namespace sdm::face
