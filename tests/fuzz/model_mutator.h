#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sdm/base/error.h"
#include "sdm/io/bytes.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// Changes a model as a forger would: what comes out has the layout and the checksums of a good
// file.
namespace sdm::io {

class ModelMutator {
 public:
  explicit ModelMutator(unsigned seed) : random_(seed) {}

  /// Empty where nothing came of it.
  std::vector<std::byte> operator()(std::span<const std::byte> file, std::size_t most) {
    try {
      Model model = read(file);
      for (std::size_t changes = 1 + random_() % 3; changes > 0; --changes) change(model);
      std::vector<std::byte> bytes = to_bytes(model);
      if (bytes.size() <= most) return bytes;
    } catch (const Error&) {
    }
    return {};
  }

 private:
  std::size_t below(std::size_t count) { return random_() % std::max<std::size_t>(count, 1); }

  void change(Model& model) {
    const std::size_t kind = below(16);
    if (kind == 0) return change_text(model.header);
    if (kind < 6) return change_number(model.header);
    if (model.tensors.empty()) return;
    const auto entry =
        std::next(model.tensors.begin(), std::ptrdiff_t(below(model.tensors.size())));
    if (kind == 6) {
      model.tensors.erase(entry);
    } else {
      const Tensor old = entry->second;
      entry->second = kind < 9 ? of_another_shape(old) : with_other_values(old);
    }
  }

  void change_text(std::string& text) {
    const std::size_t room = text.size() + 64, size = text.size();
    text.resize(room);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, room));
  }

  // Another number in the place of one.
  void change_number(std::string& text) {
    static const std::vector<std::string> numbers{"0",
                                                  "1",
                                                  "2",
                                                  "3",
                                                  "7",
                                                  "64",
                                                  "-1",
                                                  "1e30",
                                                  "-1e30",
                                                  "1e300",
                                                  "0.5",
                                                  "1e6",
                                                  "1e-30",
                                                  "1e-300",
                                                  "4294967299",
                                                  "2147483647",
                                                  "-2147483648",
                                                  "9223372036854775807",
                                                  "18446744073709551615",
                                                  "null",
                                                  "true",
                                                  "[]",
                                                  "{}",
                                                  "\"x\""};
    const std::size_t start = text.find_first_of("0123456789", below(text.size()));
    if (start == std::string::npos) return;
    const std::size_t end = text.find_first_not_of("0123456789.eE+-", start);
    text.replace(start, end == std::string::npos ? end : end - start,
                 numbers[below(numbers.size())]);
  }

  // Longer or shorter along one axis, or with another number of them.
  Tensor of_another_shape(const Tensor& tensor) {
    Shape shape = tensor.shape();
    const std::size_t kind = below(8);
    if (kind == 0)
      shape.push_back(1);
    else if (kind == 1)
      shape = {tensor.size()};
    else if (kind == 2)
      std::reverse(shape.begin(), shape.end());
    else if (!shape.empty()) {
      std::size_t& side = shape[below(shape.size())];
      side = kind == 3 ? below(2 * side + 2) : side + (kind < 6 || side == 0 ? 1 : std::size_t(-1));
    }
    std::size_t count = 1;
    for (const std::size_t side : shape) count *= side;
    std::vector<std::byte> bytes(tensor.bytes().begin(), tensor.bytes().end());
    bytes.resize(count * size_of(tensor.type()));
    return {tensor.type(), shape, bytes};
  }

  Tensor with_other_values(const Tensor& tensor) {
    std::vector<std::byte> bytes(tensor.bytes().begin(), tensor.bytes().end());
    if (bytes.empty()) return tensor;
    const bool spoiled = random_() % 4 != 0;
    if (tensor.type() == ElementType::f32 && spoiled)
      spoil<float>(bytes);
    else if (tensor.type() == ElementType::f64 && spoiled)
      spoil<double>(bytes);
    else if (tensor.type() == ElementType::i32 && spoiled)
      spoil<std::int32_t>(bytes);
    else
      LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size(), bytes.size());
    return {tensor.type(), tensor.shape(), bytes};
  }

  // A few of the numbers, or all, become one that is hard to work with.
  template <class Number>
  void spoil(std::vector<std::byte>& bytes) {
    using Limits = std::numeric_limits<Number>;
    std::vector<Number> values{0, 1, -1, 2, 1000, Limits::max(), Limits::lowest(), Limits::min()};
    if constexpr (!Limits::is_integer)
      values.insert(values.end(), {Number(0.5), Number(1e-30), Number(1e30), Number(-1e30),
                                   Limits::denorm_min(), Limits::infinity(), Limits::quiet_NaN()});
    const std::size_t count = bytes.size() / sizeof(Number);
    const bool all = random_() % 16 == 0;
    const Number value = values[below(values.size())];
    for (std::size_t i = all ? count : 1 + random_() % 4; i > 0; --i)
      std::memcpy(bytes.data() + (all ? i - 1 : below(count)) * sizeof(Number), &value,
                  sizeof value);
  }

  std::mt19937 random_;
};

}  // namespace sdm::io
