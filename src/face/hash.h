#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sdm/face/recipe.h"
#include "sdm/io/tensor.h"

namespace sdm::face {

/// FNV-1a of the bytes of numbers.
class Hash {
 public:
  void add(const void* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      value_ = (value_ ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void add(T number) { add(&number, sizeof number); }
  template <class Derived>
  void add(const Eigen::PlainObjectBase<Derived>& numbers) {
    add(numbers.data(), static_cast<std::size_t>(numbers.size()) * sizeof(float));
  }
  void add(const io::Tensor& tensor) { add(tensor.bytes().data(), tensor.bytes().size()); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ull;
};

/// Everything a recipe says. Stored fingerprints depend on the order.
inline void add(Hash& hash, const Recipe& recipe) {
  for (const float number : {recipe.unit, recipe.canvas, recipe.shape_weight}) hash.add(number);
  hash.add(static_cast<int>(recipe.normalisation));
  hash.add(recipe.subpixel);
  for (const float scale : recipe.patch_scale) hash.add(scale);
  for (const StageRecipe& stage : recipe.stages) {
    hash.add(stage.cells);
    hash.add(stage.cell);
    hash.add(stage.redraw);
  }
}

}  // namespace sdm::face
