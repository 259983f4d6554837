#pragma once

#include <filesystem>
#include <vector>

namespace sdm::render {

/// NumPy's file of an array: little-endian floats of 16 or 32 bits, the last index fastest.
struct Array {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

/// Throws Error that begins with the path: no such file, another type, or cut.
Array read_npy(const std::filesystem::path& path);

/// A 16-bit float of IEEE 754, which Eigen::half holds.
float half_to_float(unsigned short bits);

}  // namespace sdm::render
