#include "base/formatted.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>

std::string sdm::formatted_from(fmt::string_view text, fmt::format_args arguments) {
  return fmt::vformat(text, arguments);
}
