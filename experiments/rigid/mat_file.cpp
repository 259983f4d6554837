#include "experiments/rigid/mat_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "sdm/base/error.h"
#include "sdm/io/file.h"

namespace sdm::experiments {
namespace {

using Bytes = std::span<const char>;

enum ElementType : std::uint32_t { kInt8 = 1, kUint8 = 2, kDouble = 9, kMatrix = 14 };
constexpr std::uint32_t kStructClass = 2;
constexpr std::size_t kHeader = 128;
constexpr int kMostNested = 32;  // structs in structs

template <class T>
T read(Bytes bytes, std::size_t at) {
  if (at + sizeof(T) > bytes.size()) throw Error("it is cut");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

struct Element {
  std::uint32_t type = 0;
  Bytes data;
};

/// Takes the next element off the bytes.
Element next(Bytes& bytes) {
  Element element;
  element.type = read<std::uint32_t>(bytes, 0);
  std::size_t size = read<std::uint32_t>(bytes, 4), start = 8;
  if (element.type >> 16 != 0) {  // at most four bytes, which stand in the tag
    size = element.type >> 16;
    element.type &= 0xffff;
    start = 4;
  }
  if (size > (start == 4 ? 4 : bytes.size() - start)) throw Error("it is cut");
  element.data = bytes.subspan(start, size);
  bytes = bytes.subspan(std::min(bytes.size(), start == 4 ? 8 : start + (size + 7) / 8 * 8));
  return element;
}

Matrix<double> numbers(const Element& element, Index rows, Index cols) {
  const std::size_t width = element.type == kDouble                           ? 8
                            : element.type == kUint8 || element.type == kInt8 ? 1
                                                                              : 0;
  if (width == 0) throw Error(fmt::format("numbers of type {} are not known", element.type));
  if (rows < 0 || cols < 0 || element.data.size() % width != 0 ||
      rows * cols != Index(element.data.size() / width))
    throw Error(fmt::format("{} bytes for a matrix of {} x {}", element.data.size(), rows, cols));
  Matrix<double> matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i)
    matrix.data()[i] = element.type == kDouble  ? read<double>(element.data, std::size_t(i) * 8)
                       : element.type == kUint8 ? read<std::uint8_t>(element.data, std::size_t(i))
                                                : read<std::int8_t>(element.data, std::size_t(i));
  return matrix;
}

void read_matrix(Bytes bytes, const std::string& prefix,
                 std::map<std::string, Matrix<double>>& found, int depth = 0) {
  if (depth > kMostNested)
    throw Error(fmt::format("structs nest deeper than {} levels", kMostNested));
  const auto kind = read<std::uint32_t>(next(bytes).data, 0) & 0xff;
  const Bytes dimensions = next(bytes).data;
  const Index rows = read<std::int32_t>(dimensions, 0), cols = read<std::int32_t>(dimensions, 4);
  const Bytes own = next(bytes).data;
  const std::string name = prefix + std::string(own.begin(), own.end());
  if (kind != kStructClass) {
    found[name] = numbers(next(bytes), rows, cols);
    return;
  }
  const auto length = read<std::int32_t>(next(bytes).data, 0);
  const Bytes names = next(bytes).data;
  if (length <= 0) throw Error("a struct without names");
  for (std::size_t at = 0; at + std::size_t(length) <= names.size(); at += std::size_t(length)) {
    const std::string field(names.data() + at, strnlen(names.data() + at, std::size_t(length)));
    read_matrix(next(bytes).data, name + "." + field, found, depth + 1);
  }
}

}  // namespace

std::map<std::string, Matrix<double>> read_mat_file(const std::filesystem::path& path) {
  const std::string content = io::read_text(path);
  try {
    if (!content.starts_with("MATLAB 5.0 MAT-file") || content.size() < kHeader)
      throw Error("no MATLAB 5 file");
    std::map<std::string, Matrix<double>> found;
    for (Bytes rest = Bytes(content).subspan(kHeader); !rest.empty();) {
      const Element element = next(rest);
      if (element.type != kMatrix)
        throw Error(fmt::format("an element of type {}, expected a matrix", element.type));
      read_matrix(element.data, "", found);
    }
    return found;
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace sdm::experiments
