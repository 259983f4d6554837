#pragma once

#include <functional>
#include <string>

#include "sdm/base/error.h"

namespace sdm::face {

/// What an action says when it refuses; "nothing" where it does not.
inline std::string why(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace sdm::face
