#include "render/npy.h"

#include <Eigen/Core>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/file.h"

namespace sdm::render {
namespace {

constexpr std::size_t kMagic = 8;  // "\x93NUMPY", major, minor

// What stands after 'key': up to the end of its value.
std::string value_of(const std::string& header, const std::string& key) {
  const std::size_t at = header.find("'" + key + "'");
  if (at == std::string::npos) return {};
  const std::size_t start = header.find(':', at);
  if (start == std::string::npos) return {};
  const std::size_t open = header.find_first_not_of(' ', start + 1);
  if (open == std::string::npos) return {};
  const std::size_t end =
      header[open] == '(' ? header.find(')', open) : header.find_first_of(",}", open);
  return header.substr(open, end == std::string::npos ? end : end - open);
}

std::vector<std::size_t> shape_of(const std::string& text) {
  std::vector<std::size_t> shape;
  for (const std::string& word : split_words(text, "(), ")) {
    if (word.empty()) continue;
    const auto number = number_in(word);
    if (!number || *number < 0 || *number > 1e9) return {};
    shape.push_back(static_cast<std::size_t>(*number));
  }
  return shape;
}

}  // namespace

float half_to_float(unsigned short bits) {
  return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits));
}

Array read_npy(const std::filesystem::path& path) {
  const std::string file = io::read_text(path);
  const auto fail = [&](const std::string& what) -> Array {
    throw Error(path.string() + ": " + what);
  };
  if (file.size() < kMagic + 4 || file.compare(0, 6, "\x93NUMPY") != 0)
    return fail("not a .npy file");
  const auto byte = [&](std::size_t i) { return std::size_t(static_cast<unsigned char>(file[i])); };
  const bool longer = byte(6) >= 2;  // version 2 has four bytes of length
  const std::size_t length =
      longer ? byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24 : byte(8) | byte(9) << 8;
  const std::size_t start = kMagic + (longer ? 4 : 2) + length;
  if (start > file.size()) return fail("cut within its header");
  const std::string header = file.substr(kMagic, start - kMagic);
  const std::string type = value_of(header, "descr");
  if (type != "'<f2'" && type != "'<f4'")
    return fail(formatted("numbers of type {}, expected '<f2' or '<f4'", type));
  if (value_of(header, "fortran_order") != "False")
    return fail("in Fortran's order, expected the last index to be the fastest");
  Array array;
  array.shape = shape_of(value_of(header, "shape"));
  std::size_t count = array.shape.empty() ? 0 : 1;
  for (const std::size_t side : array.shape)
    if (side > 0 && count > file.size() / side)
      count = file.size();  // more than there can be
    else
      count *= side;
  const std::size_t size = type == "'<f2'" ? 2 : 4;
  if (count == 0 || count > file.size() || (file.size() - start) / size < count)
    return fail(
        formatted("{} bytes of numbers, expected {} x {}", file.size() - start, count, size));
  static_assert(std::endian::native == std::endian::little);
  array.values.resize(count);
  if (size == 4) {
    std::memcpy(array.values.data(), file.data() + start, 4 * count);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, file.data() + start + 2 * i, 2);
      array.values[i] = half_to_float(bits);
    }
  }
  return array;
}

}  // namespace sdm::render
