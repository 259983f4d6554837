#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "sdm/rigid/train_tracker.h"
#include "tests/rigid/texture.h"

namespace {
std::atomic<int> allocations{0};

void* allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t a) { return allocate(size, std::size_t(a)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace sdm::rigid {
namespace {

TEST(AFrame, AllocatesNothingForAnyMotion) {
  for (const Motion motion : {Motion::affine, Motion::homography}) {
    TrackerOptions options;
    options.motion = motion;
    options.samples = 300;
    Tracker tracker = train_tracker(frame_of(centred()), middle_box(), options).tracker;
    Warp moved = centred();
    moved(0, 2) += 3;
    const auto frame = frame_of(moved);
    const int before = allocations;
    ASSERT_GT(before, 0);
    for (int i = 0; i < 3; ++i) tracker.update(frame);
    EXPECT_EQ(allocations, before);
  }
}

}  // namespace
}  // namespace sdm::rigid
