#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
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

/// Writes an object of JSON member by member, as nlohmann's `dump` would, without the tree that
/// this needs: where memory runs out there is an exception and nothing to take apart.
///
///   JsonWriter<nlohmann::json> header;
///   header.put("points", 68).objects("boxes", boxes, [](auto& json, const Box& box) {
///     json.put("x", box.x);
///   });
///   header.text();
template <class Json>
class JsonWriter {
 public:
  /// Spaces a level; negative: all on one line.
  explicit JsonWriter(int indent = -1) : indent_(indent) { open('{'); }

  /// A number, a text, a truth, nullptr, or a vector of these.
  template <class Value>
  JsonWriter& put(std::string_view name, const Value& value) {
    key(name);
    text_ += scalar(value);
    return *this;
  }
  template <class Value>
  JsonWriter& put(std::string_view name, const std::vector<Value>& values) {
    key(name);
    open('[');
    for (const Value& value : values) {
      next();
      text_ += scalar(value);
    }
    close(']');
    return *this;
  }
  /// `write(*this)` puts the members.
  template <class Write>
  JsonWriter& object(std::string_view name, Write&& write) {
    key(name);
    open('{');
    write(*this);
    close('}');
    return *this;
  }
  /// A list of objects; `write(*this, value)` puts the members of each.
  template <class Values, class Write>
  JsonWriter& objects(std::string_view name, const Values& values, Write&& write) {
    key(name);
    open('[');
    for (const auto& value : values) {
      next();
      open('{');
      write(*this, value);
      close('}');
    }
    close(']');
    return *this;
  }

  /// The whole text, once and last.
  std::string text() {
    close('}');
    return std::move(text_);
  }

 private:
  template <class Value>
  static std::string scalar(const Value& value) {
    return json_text(Json(value));
  }
  void key(std::string_view name) {
    next();
    text_ += scalar(std::string(name));
    text_ += indent_ < 0 ? ":" : ": ";
  }
  void next() {
    if (!empty_) text_ += ',';
    empty_ = false;
    line();
  }
  void open(char bracket) {
    text_ += bracket;
    ++depth_;
    empty_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!empty_) line();
    empty_ = false;
    text_ += bracket;
  }
  void line() {
    if (indent_ >= 0) text_.append(1, '\n').append(static_cast<std::size_t>(depth_ * indent_), ' ');
  }

  std::string text_;
  int indent_, depth_ = 0;
  bool empty_ = true;  // the object or list that is open
};

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
