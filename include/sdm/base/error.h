#pragma once

#include <stdexcept>

namespace sdm {

/// Every bad input ends in this one type. The message names the thing, the value found and what was
/// expected, so that a user can act on it without reading our source.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sdm
