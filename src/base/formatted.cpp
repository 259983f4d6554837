// What we never write, and what would bring in locales: a tenth of a program for browsers.
#define FMT_STATIC_THOUSANDS_SEPARATOR ','
#define FMT_USE_LONG_DOUBLE 0

#include "base/formatted.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>

std::string sdm::formatted_from(fmt::string_view text, fmt::format_args arguments) {
  return fmt::vformat(text, arguments);
}
