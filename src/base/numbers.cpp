#include "base/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace sdm {
namespace {

/// Takes the digits off the front; true if there were any.
bool take_digits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count > 0;
}

bool take_one_of(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

bool is_decimal(std::string_view text) {
  take_one_of(text, "+-");
  bool digits = take_digits(text);
  if (take_one_of(text, ".")) digits = take_digits(text) || digits;
  if (!digits) return false;
  if (take_one_of(text, "eE")) {
    take_one_of(text, "+-");
    if (!take_digits(text)) return false;
  }
  return text.empty();
}

/// What strtod reads as the decimal point, of which the program's locale decides.
std::string decimal_point() {
  char half[16];
  std::snprintf(half, sizeof half, "%.1f", 0.5);
  const std::string text = half;
  return text.substr(1, text.size() - 2);
}

}  // namespace

// Not std::from_chars, which libc++ has for floating-point numbers from version 20 only.
std::optional<double> parse_number(std::string_view text) {
  if (!is_decimal(text)) return {};
  std::string digits(text);
  char* end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  if (*end != '\0') {
    digits.replace(digits.find('.'), 1, decimal_point());
    value = std::strtod(digits.c_str(), &end);
  }
  if (*end != '\0' || !std::isfinite(value)) return {};
  return value;
}

}  // namespace sdm
