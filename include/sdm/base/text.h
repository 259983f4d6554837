#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdm {

/// A text as lines, without line ends and without a byte order mark. Its name, of a file say,
/// begins the errors.
struct TextLines {
  std::string name, text;
  std::vector<std::string_view> lines;  // of `text`

  TextLines(std::string name, std::string text);
  TextLines(const TextLines&) = delete;
  TextLines& operator=(const TextLines&) = delete;

  /// Throws an Error that begins with NAME:LINE; `index` counts from 0, lines from 1.
  [[noreturn]] void fail(std::size_t index, const std::string& what) const;
};

/// Without the blanks around it.
std::string_view stripped(std::string_view text);
/// Cells between commas, trimmed; a cell in quotes may hold commas, and quotes written twice.
std::vector<std::string> split_cells(std::string_view line);
/// Words between blanks, or between any of `separators`; one in double quotes may hold them.
std::vector<std::string> split_words(std::string_view line, std::string_view separators = " \t");
/// The opposite: in quotes where the text holds a separator, a quote or a line end.
std::string quoted(const std::string& text, std::string_view separators = ", \t");

/// Whether a text is well-formed UTF-8, as every reader of JSON wants it.
bool is_utf8(std::string_view text);
/// The text with `\x1b` and the like in place of what a terminal would obey: control characters but
/// line ends and tabs, and bytes that are no UTF-8.
std::string printable(std::string_view text);

/// The number that a text is, blanks around it aside; none where it is something else, or nothing
/// that a float can hold, such as `inf`.
std::optional<double> number_in(std::string_view text);
/// The same. Throws Error with the text and what was expected.
double to_number(std::string_view text);
/// Of every word in a line.
std::vector<double> to_numbers(std::string_view line, std::string_view separators = " \t");

}  // namespace sdm
