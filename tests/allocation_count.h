#pragma once

// Counts every allocation of a test program, whoever makes it: operator new and Eigen both end in
// malloc. It defines malloc, so one file of a program may include it.

#include <atomic>
#include <cstdlib>

#include "tests/sanitized.h"

namespace {
constexpr bool counts_allocations = !SDM_SANITIZED;  // else a test of them is skipped
std::atomic<int> allocations{0};
}  // namespace

#if !SDM_SANITIZED
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? 12 : 0;
}
}
#endif
