#include "sdm/base/types.h"

// Ceres' static library carries Eigen's allocator as it was compiled there, which aligns otherwise
// than ours (base/types.h), under the same names. A linker takes the first that it meets, and a
// program's own objects come before any library: so these are compiled into every program that
// links the peers.
namespace {

[[gnu::used]] void* (*const kAllocate)(std::size_t) = &Eigen::internal::aligned_malloc;
[[gnu::used]] void* (*const kReallocate)(void*, std::size_t,
                                         std::size_t) = &Eigen::internal::aligned_realloc;
[[gnu::used]] void (*const kFree)(void*) = &Eigen::internal::aligned_free;

}  // namespace
