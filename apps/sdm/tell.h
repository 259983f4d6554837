#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string_view>
#include <utility>

namespace sdm::app {

// All that the tool writes to its standard streams goes through here. Names and messages out of
// files cannot steer the terminal (sdm::printable).

/// A result for people, on stdout. Where it cannot be written, work goes on, for a model may be
/// worth more than what is said of it; flush_stdout tells in the end.
void say_text(std::string_view text);
/// A message, on stderr; where nobody can read it, work goes on.
void tell_text(std::string_view text) noexcept;
/// Results for programs, on stdout, byte for byte. Throws Error where they cannot be written.
void put_text(std::string_view text);

template <class... Arguments>
void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  say_text(fmt::format(text, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void tell(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  tell_text(fmt::format(text, std::forward<Arguments>(arguments)...));
}
/// What is for people where stdout may be taken by results for programs.
template <class... Arguments>
void say_beside(bool stdout_taken, fmt::format_string<Arguments...> text,
                Arguments&&... arguments) {
  const std::string line = fmt::format(text, std::forward<Arguments>(arguments)...);
  stdout_taken ? tell_text(line) : say_text(line);
}

/// From now on results and progress are left out, messages are not: for ranks that are not the
/// root.
void be_quiet();
bool is_quiet();

/// To be called last: throws Error where something said did not reach stdout.
void flush_stdout();

}  // namespace sdm::app
