#pragma once

#include <optional>
#include <string_view>

namespace sdm {

/// The number that `text` is as a whole, such as -1, +.5, 2. or 3e-4, rounded to the nearest
/// double; the same in every locale. None where it is anything else: blanks around it, hexadecimal,
/// nan, infinite or beyond the largest double.
std::optional<double> parse_number(std::string_view text);

}  // namespace sdm
