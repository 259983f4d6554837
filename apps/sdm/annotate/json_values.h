#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "sdm/base/error.h"

namespace sdm::app {

/// What is no UTF-8 in a name is replaced.
inline std::string json_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Throws Error, naming it, where the value is no such number: finite, or whole and in range.
template <class Number>
Number to_number(const nlohmann::json& value, const char* name) {
  if constexpr (std::is_floating_point_v<Number>) {
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!std::isfinite(number)) throw Error(fmt::format("'{}' is no finite number", name));
    return static_cast<Number>(number);
  } else {
    static_assert(std::is_same_v<Number, std::int64_t>);
    const bool fits =
        value.is_number_unsigned()
            ? value.get<std::uint64_t>() <= std::uint64_t(std::numeric_limits<Number>::max())
            : value.is_number_integer();
    if (!fits) throw Error(fmt::format("'{}' is no whole number in range", name));
    return value.get<Number>();
  }
}

}  // namespace sdm::app
