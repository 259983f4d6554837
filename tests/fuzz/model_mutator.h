#pragma once

#include <algorithm>
#include <cstring>
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
    switch (random_() % 8) {
      case 0:
        return change_text(model.header);
      case 1:
      case 2:
        return change_number(model.header);
      case 3:
        return change_shape(model);
      default:
        return change_values(model);
    }
  }

  void change_text(std::string& text) {
    const std::size_t room = text.size() + 64, size = text.size();
    std::string changed = text;
    changed.resize(room);
    changed.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(changed.data()), size, room));
    text = changed;
  }

  // Another number in the place of one.
  void change_number(std::string& text) {
    static constexpr const char* kNumbers[] = {"0",
                                               "1",
                                               "2",
                                               "3",
                                               "7",
                                               "64",
                                               "-1",
                                               "1e30",
                                               "-1e30",
                                               "1e300",
                                               "1e-300",
                                               "4294967299",
                                               "2147483647",
                                               "-2147483648",
                                               "9223372036854775807",
                                               "18446744073709551615",
                                               "0.5",
                                               "null",
                                               "true",
                                               "[]",
                                               "{}",
                                               "\"x\""};
    const std::size_t start = text.find_first_of("0123456789", below(text.size()));
    if (start == std::string::npos) return;
    const std::size_t end = text.find_first_not_of("0123456789.eE+-", start);
    text.replace(start, end == std::string::npos ? end : end - start,
                 kNumbers[below(std::size(kNumbers))]);
  }

  void change_shape(Model& model) {
    if (model.tensors.empty()) return;
    const auto entry =
        std::next(model.tensors.begin(), std::ptrdiff_t(below(model.tensors.size())));
    const auto& [name, tensor] = *entry;
    if (random_() % 8 == 0) {
      model.tensors.erase(entry);
      return;
    }
    if (tensor.shape().empty() || tensor.type() != ElementType::f32) return;
    const auto values = tensor.as<float>();
    std::size_t count = below(values.size() * 2 + 2);
    std::vector<float> changed(values.begin(), values.end());
    changed.resize(count, 1);
    const std::string key = name;
    const std::size_t columns = std::max<std::size_t>(1, tensor.shape().back());
    Shape shape = tensor.shape().size() == 2 ? Shape{count / columns, columns} : Shape{count};
    if (shape.size() == 2) changed.resize(shape[0] * shape[1]);
    model.tensors.erase(key);
    model.put(key, to_tensor(std::span<const float>(changed), shape));
  }

  template <class Number>
  void spoil(std::vector<std::byte>& bytes) {
    static constexpr Number kValues[] = {
        0,           1,          -1, Number(1e-30), Number(1e30), Number(-1e30), Number(3e38),
        Number(1e6), Number(0.5)};
    if (bytes.size() < sizeof(Number)) return;
    for (std::size_t i = 1 + random_() % 4; i > 0; --i) {
      const Number value = kValues[below(std::size(kValues))];
      std::memcpy(bytes.data() + below(bytes.size() / sizeof(Number)) * sizeof(Number), &value,
                  sizeof value);
    }
  }

  void change_values(Model& model) {
    if (model.tensors.empty()) return;
    const auto entry =
        std::next(model.tensors.begin(), std::ptrdiff_t(below(model.tensors.size())));
    const std::string name = entry->first;
    const Tensor& tensor = entry->second;
    std::vector<std::byte> bytes(tensor.bytes().begin(), tensor.bytes().end());
    if (bytes.empty()) return;
    if (tensor.type() == ElementType::f32 && random_() % 4 != 0)
      spoil<float>(bytes);
    else if (tensor.type() == ElementType::f64 && random_() % 4 != 0)
      spoil<double>(bytes);
    else
      LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size(), bytes.size());
    const auto put = [&]<class T>(T) {
      std::vector<T> values(bytes.size() / sizeof(T));
      std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
      Tensor changed = to_tensor(std::span<const T>(values), tensor.shape());
      model.tensors.erase(name);
      model.put(name, std::move(changed));
    };
    switch (tensor.type()) {
      case ElementType::f32:
        return put(float());
      case ElementType::f64:
        return put(double());
      case ElementType::i8:
        return put(std::int8_t());
      default:
        return;
    }
  }

  std::mt19937 random_;
};

}  // namespace sdm::io
