#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/formatted.h"
#include "sdm/base/error.h"

// How every room reads and writes JSON. `Json` is nlohmann's type, which base does not need for it.
namespace sdm {

/// Takes a tree of JSON apart without asking for memory. nlohmann's destructor asks for some, and
/// where there is none, that ends the program. Declared after what it is for.
template <class Json>
class Dismantling {
 public:
  explicit Dismantling(Json& json) : json_(json) {}
  Dismantling(const Dismantling&) = delete;
  Dismantling& operator=(const Dismantling&) = delete;
  // NOLINTNEXTLINE(bugprone-exception-escape): walking a tree of values throws nothing
  ~Dismantling() { dismantle(json_); }

 private:
  // NOLINTNEXTLINE(bugprone-exception-escape): likewise
  static void dismantle(Json& json) noexcept {
    if (!json.is_structured()) return;
    for (Json& child : json) dismantle(child);
    json.clear();
  }
  Json& json_;
};

/// A text of JSON. What is no UTF-8 in a name is replaced: a model that took hours to learn is not
/// lost for it.
template <class Json>
std::string json_text(Json json, int indent = -1) {
  const Dismantling<Json> after(json);
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// The number that a value is. Throws Error, naming it, where it is another type, a fraction where
/// a whole number is expected, or beyond what `Number` holds: a cast would make another one of it.
template <class Number, class Json>
Number to_number(const Json& value, const std::string& name) {
  constexpr auto largest = std::numeric_limits<Number>::max();
  if constexpr (std::integral<Number>) {
    if (value.is_number_unsigned()) {
      const auto whole = value.template get<std::uint64_t>();
      if (std::in_range<Number>(whole)) return static_cast<Number>(whole);
    } else if (value.is_number_integer()) {
      const auto whole = value.template get<std::int64_t>();
      if (std::in_range<Number>(whole)) return static_cast<Number>(whole);
    }
    throw Error(formatted("'{}' is {:.40}, expected a whole number from {} to {}", name,
                          json_text(value), std::numeric_limits<Number>::min(), largest));
  } else {
    const double real = value.is_number() ? value.template get<double>() : std::nan("");
    if (std::abs(real) <= static_cast<double>(largest)) return static_cast<Number>(real);
    throw Error(
        formatted("'{}' is {:.40}, expected a number up to {}", name, json_text(value), largest));
  }
}

/// The same of a member. Throws nlohmann's exception where there is none.
template <class Number, class Json>
Number number_at(const Json& json, const char* name) {
  return to_number<Number>(json.at(name), name);
}

template <class Number, class Json>
std::vector<Number> numbers_at(const Json& json, const char* name) {
  const Json& values = json.at(name);
  if (!values.is_array())
    throw Error(formatted("'{}' is {:.40}, expected a list", name, json_text(values)));
  std::vector<Number> numbers;
  numbers.reserve(values.size());
  for (const Json& value : values) numbers.push_back(to_number<Number>(value, name));
  return numbers;
}

}  // namespace sdm
