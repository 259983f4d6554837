#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sdm {

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
    add(numbers.data(),
        static_cast<std::size_t>(numbers.size()) * sizeof(typename Derived::Scalar));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ull;
};

}  // namespace sdm
