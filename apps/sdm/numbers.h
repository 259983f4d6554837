#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "sdm/base/text.h"

namespace sdm::app {

// For the options' ->check(). CLI11's own PositiveNumber and NonNegativeNumber write the largest
// double out in full where they refuse a number.

inline const CLI::Validator kPositive(
    [](const std::string& text) {
      double value = 0;
      return CLI::detail::lexical_cast(text, value) && value > 0
                 ? std::string()
                 : text + ", expected a positive number";
    },
    "POSITIVE");

inline const CLI::Validator kNotNegative(
    [](const std::string& text) {
      double value = 0;
      return CLI::detail::lexical_cast(text, value) && value >= 0 ? std::string()
                                                                  : text + ", expected 0 or more";
    },
    "NONNEGATIVE");

/// For words that a file will hold.
inline const CLI::Validator kUtf8(
    [](const std::string& text) {
      return is_utf8(text) ? std::string() : printable(text) + ", expected UTF-8";
    },
    "");

}  // namespace sdm::app
