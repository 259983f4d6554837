#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "sdm/face/aligner.h"
#include "tests/face/drawn_faces.h"

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

namespace sdm::face {
namespace {

TEST(AnAligner, AllocatesNothing) {
  const auto faces = drawn_faces(30, 1);
  const Model model = train(faces, {}, drawn_options()).model;
  Aligner aligner(model);
  aligner.align(faces[0].picture, faces[0].boxes[0]);
  const int before = allocations;
  for (const TrainingFace& face : faces) aligner.align(face.picture, face.boxes[0]);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace sdm::face
