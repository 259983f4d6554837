#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "sdm/base/error.h"
#include "sdm/c.h"

namespace sdm::c {

/// A callback of the caller's asked to stop. No std::exception, so that nobody on the way takes it
/// for a failure of what he called.
struct Cancelled {};

void set_error(const char* sentence) noexcept;

/// Throws Error if an argument that must be there is not.
void require(const void* argument, const char* name);

/// Runs the body of a call: whatever it throws becomes a status and a sentence.
template <class Body>
sdm_status guarded(Body&& body) noexcept {
  try {
    body();
    return SDM_OK;
  } catch (const Cancelled&) {
    set_error("cancelled by a callback");
    return SDM_CANCELLED;
  } catch (const Error& error) {
    set_error(error.what());
    return SDM_ERROR;
  } catch (const std::bad_alloc&) {
    set_error("out of memory");
    return SDM_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    set_error(error.what());
    return SDM_INTERNAL;
  } catch (...) {
    set_error("an error of a kind that is not known");
    return SDM_INTERNAL;
  }
}

/// The options given, over the defaults where the caller knows fewer of them; the defaults for
/// NULL.
template <class Options>
Options options_of(const Options* given, void (*init)(Options*)) {
  Options options;
  init(&options);
  if (given == nullptr) return options;
  if (given->size < sizeof(std::size_t) || given->size > 65536)
    throw Error("options of a size of " + std::to_string(given->size) +
                " bytes: fill them with their sdm_..._init first");
  std::memcpy(static_cast<void*>(&options), given, std::min(given->size, sizeof(Options)));
  options.size = sizeof(Options);
  return options;
}

/// A copy that sdm_free frees.
char* copy_text(const std::string& text);

}  // namespace sdm::c
