#pragma once

#include <fmt/core.h>

#include <string>

namespace sdm {

std::string formatted_from(fmt::string_view text, fmt::format_args arguments);

/// fmt::format with its checks at compile time, but the work in one file of the library: fmt's
/// whole header would cost every file of ours seconds, and its library would be one more that
/// running a model needs.
template <class... Arguments>
std::string formatted(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return formatted_from(text, fmt::make_format_args(arguments...));
}

/// The values one after the other.
template <class Range>
std::string joined(const Range& values, const std::string& between) {
  std::string out;
  for (const auto& value : values) {
    if (!out.empty()) out += between;
    out += formatted("{}", value);
  }
  return out;
}

}  // namespace sdm
