#include "sdm/base/text.h"

#include <cmath>
#include <utility>

#include "base/formatted.h"
#include "base/numbers.h"
#include "sdm/base/error.h"

namespace sdm {
namespace {

std::vector<std::string> split(std::string_view line, std::string_view separators) {
  std::vector<std::string> parts(1);
  bool in_quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      const bool twice = in_quotes && line.substr(i + 1).starts_with('"');
      if (twice) parts.back() += line[++i];
      if (!twice) in_quotes = !in_quotes;
    } else if (!in_quotes && separators.find(c) != std::string_view::npos) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// The bytes of the character that a text begins with; 0 where they are no UTF-8.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  // Overlong, surrogates, beyond the last character.
  if ((byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xED && byte(1) > 0x9F) ||
      (byte(0) == 0xF0 && byte(1) < 0x90) || (byte(0) == 0xF4 && byte(1) > 0x8F))
    return 0;
  return length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool obeyed =
        (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F ||
        (first == 0xC2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xA0);
    const std::size_t taken = length == 0 ? 1 : length;
    for (const char c : text.substr(0, taken))
      result += length == 0 || obeyed ? formatted("\\x{:02x}", static_cast<unsigned char>(c))
                                      : std::string(1, c);
    text.remove_prefix(taken);
  }
  return result;
}

TextLines::TextLines(std::string name_, std::string text_)
    : name(std::move(name_)), text(std::move(text_)) {
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

void TextLines::fail(std::size_t index, const std::string& what) const {
  throw Error(formatted("{}:{}: {}", name, index + 1, what));
}

std::string_view stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> split_cells(std::string_view line) {
  std::vector<std::string> cells = split(line, ",");
  for (std::string& cell : cells) cell = std::string(stripped(cell));
  return cells;
}

std::vector<std::string> split_words(std::string_view line, std::string_view separators) {
  std::vector<std::string> words = split(line, separators);
  std::erase(words, "");
  return words;
}

std::string quoted(const std::string& text, std::string_view separators) {
  if (text.find_first_of(separators) == std::string::npos &&
      text.find_first_of("\"\n") == std::string::npos)
    return text;
  std::string result = "\"";
  for (char c : text) {
    if (c == '"') result += c;
    result += c;
  }
  return result + '"';
}

std::optional<double> number_in(std::string_view text) {
  const std::optional<double> value = parse_number(stripped(text));
  return value && std::isfinite(static_cast<float>(*value)) ? value : std::nullopt;
}

double to_number(std::string_view text) {
  const std::optional<double> value = number_in(text);
  if (!value) throw Error(formatted("'{:.40}', expected a number", stripped(text)));
  return *value;
}

std::vector<double> to_numbers(std::string_view line, std::string_view separators) {
  std::vector<double> numbers;
  for (const std::string& word : split_words(line, separators)) numbers.push_back(to_number(word));
  return numbers;
}

}  // namespace sdm
