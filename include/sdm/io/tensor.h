#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sdm/base/types.h"

namespace sdm::io {

static_assert(std::endian::native == std::endian::little,
              "tensors are used in place, so the machine must be little-endian as the file is");

/// What one number of a tensor is. The values are those in the file: never renumber them.
enum class ElementType : std::uint8_t {
  f32 = 1,
  f64 = 2,
  f16 = 3,
  i8 = 4,
  u8 = 5,
  i32 = 6,
  i64 = 7
};

/// "f32", "i8" and so on.
std::string_view name_of(ElementType type);
/// Bytes of one element; 0 for a value that is none of the enumerators.
std::size_t size_of(ElementType type);

/// The element type that stores a C++ type, found at compile time. Eigen::half is f16.
template <class T>
inline constexpr ElementType element_type_of = [] {
  if constexpr (std::is_same_v<T, float>) return ElementType::f32;
  if constexpr (std::is_same_v<T, double>) return ElementType::f64;
  if constexpr (std::is_same_v<T, Eigen::half>) return ElementType::f16;
  if constexpr (std::is_same_v<T, std::int8_t>) return ElementType::i8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::u8;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::i64;
  return ElementType{};
}();

template <class T>
concept Element = element_type_of<T>
!= ElementType{};

/// Sizes along each axis. The first axis runs fastest in memory (column-major, as in Eigen).
using Shape = std::vector<std::size_t>;

/// Where a tensor's bytes begin in memory and in the file, so that SIMD kernels can use them in
/// place.
inline constexpr std::size_t alignment = 64;

/// A block of numbers with a type and a shape. Immutable, so copies share the bytes and are cheap,
/// and any number of threads may read one. The bytes are the tensor's own, or a memory map's (kept
/// alive by every tensor in it), or the caller's (io::view: then the caller keeps them alive).
class Tensor {
 public:
  /// No numbers: f32 of shape [0].
  Tensor() = default;
  /// Copies `bytes`. Throws if they are not what type and shape need.
  Tensor(ElementType type, Shape shape, std::span<const std::byte> bytes);
  /// Refers to `bytes`; `owner` (may be null) keeps them alive.
  Tensor(ElementType type, Shape shape, std::span<const std::byte> bytes,
         std::shared_ptr<const void> owner);

  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// How many numbers.
  std::size_t size() const { return bytes_.size() / size_of(type_); }

  /// The numbers in place. Throws if they are of another type.
  template <Element T>
  std::span<const T> as() const {
    check_access(element_type_of<T>);
    return {reinterpret_cast<const T*>(bytes_.data()), size()};
  }

  /// The same tensor with bytes of its own.
  Tensor clone() const { return {type_, shape_, bytes_}; }

  /// Equal type, shape and bits.
  friend bool operator==(const Tensor& a, const Tensor& b);

 private:
  void check_access(ElementType wanted) const;

  ElementType type_ = ElementType::f32;
  Shape shape_ = {0};
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

/// "f32 [136, 8704]", for messages.
std::string describe(const Tensor& tensor);

/// A tensor with a copy of the numbers.
template <Element T>
Tensor to_tensor(std::span<const T> values, Shape shape) {
  return {element_type_of<T>, std::move(shape), std::as_bytes(values)};
}
template <Element T>
Tensor to_tensor(const std::vector<T>& values) {
  return to_tensor(std::span<const T>(values), {values.size()});
}
/// Shape [rows, cols] for a matrix, [size] for a compile-time vector.
template <class Derived>
Tensor to_tensor(const Eigen::MatrixBase<Derived>& values) {
  using Scalar = typename Derived::Scalar;
  if constexpr (Derived::IsVectorAtCompileTime || !Derived::IsRowMajor) {
    const auto& columns = values.eval();  // a plain matrix is used as it is, without a copy
    const std::span<const Scalar> numbers(columns.data(), static_cast<std::size_t>(values.size()));
    if constexpr (Derived::IsVectorAtCompileTime) return to_tensor(numbers, {numbers.size()});
    return to_tensor(numbers, {static_cast<std::size_t>(values.rows()),
                               static_cast<std::size_t>(values.cols())});
  } else {
    return to_tensor(Matrix<Scalar>(values));
  }
}

/// The same numbers as f32, f64 or f16 (rounded to nearest). Throws if a number does not fit.
Tensor convert(const Tensor& values, ElementType to);

/// The lines of a matrix that share one scale.
enum class ScalePer { column, row };

/// A matrix q of 8-bit integers and the factors s that give it back: x = s q. The shape of `scale`
/// says which lines share a factor: [1, cols] or [rows, 1].
struct Quantized {
  Tensor values;
  Tensor scale;
};
/// Symmetric quantisation to -127..127: |x - s q| <= s / 2. Throws if a number is not finite.
Quantized quantize(const Tensor& matrix, ScalePer per);
Tensor dequantize(const Quantized& quantized);

/// A size that the caller does not insist on.
inline constexpr Eigen::Index any_size = -1;

/// A rank-2 tensor of any type as a matrix of float or double. Throws if the shape is another one.
template <class Scalar>
Matrix<Scalar> to_matrix(const Tensor& tensor, Eigen::Index rows = any_size,
                         Eigen::Index cols = any_size);
/// A rank-1 tensor of any type as a vector of float or double. Throws if the shape is another one.
template <class Scalar>
Vector<Scalar> to_vector(const Tensor& tensor, Eigen::Index size = any_size);

}  // namespace sdm::io
