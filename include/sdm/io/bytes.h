#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sdm/io/model.h"

namespace sdm::io {

/// What a reader refuses even if the file is consistent. Checked before anything is allocated.
struct Limits {
  std::uint64_t file_bytes = std::uint64_t{1} << 34;
  /// A header is parsed into a tree many times its size, so it is kept far smaller than a tensor
  /// may be.
  std::uint64_t header_bytes = std::uint64_t{1} << 22;
  std::uint32_t tensors = 1u << 16;
};

/// Reads a model file held in memory and copies its tensors. No file system is used. Throws an
/// Error that says what is wrong with anything that is not, byte for byte, what `to_bytes` gives:
/// whatever this accepts, `to_bytes` reproduces. The format is in docs/model-file.md.
Model read(std::span<const std::byte> file, const Limits& limits = {});

/// The same without copying: the tensors refer to `file`, which the caller keeps alive and
/// unchanged. Throws also if `file` does not start at a multiple of io::alignment.
Model view(std::span<const std::byte> file, const Limits& limits = {});

/// The model as a file. Equal models give equal bytes. Throws if the kind, the header or a name is
/// not one that `read` accepts.
std::vector<std::byte> to_bytes(const Model& model);

}  // namespace sdm::io
