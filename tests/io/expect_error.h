#pragma once

#include <gmock/gmock.h>

#include <string>

#include "sdm/base/error.h"

namespace sdm::io {

/// `f` must throw an Error whose text contains `part`.
template <class F>
void expect_error(F&& f, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "no error, expected one with: " << part;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

}  // namespace sdm::io
