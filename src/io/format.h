#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "sdm/io/bytes.h"

/// The layout of a model file (docs/model-file.md tells it in words) and what bytes.cpp and
/// file.cpp share.
namespace sdm::io {

/// Not text (0x89), and broken by any transfer that changes line ends, so that such damage is told.
inline constexpr std::string_view magic = "\x89SDM\r\n\x1a\n";
inline constexpr std::uint32_t format_version = 1;
inline constexpr std::size_t max_rank = 8;
inline constexpr std::size_t max_name = 255;
inline constexpr std::size_t max_header_depth = 64;

/// The first 64 bytes of the file, exactly as they lie there.
struct Prelude {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t tensors;
  std::uint64_t file_bytes;
  std::uint64_t header_bytes;
  std::uint64_t table_bytes;
  std::array<char, 16> kind;    // padded with zeros
  std::uint32_t head_checksum;  // of header, table and their padding
  std::uint32_t checksum;       // of the 60 bytes before
};
static_assert(sizeof(Prelude) == alignment);

/// The fixed part of a table entry; `rank` sizes of 8 bytes and the name follow.
struct Entry {
  std::uint32_t checksum;  // of the data without padding
  std::uint8_t type;
  std::uint8_t rank;
  std::uint16_t name_bytes;
  std::uint64_t offset;
};
static_assert(sizeof(Entry) == 16);

constexpr std::uint64_t aligned(std::uint64_t n) {
  return (n + alignment - 1) / alignment * alignment;
}

/// Bytes of an array of this type and shape; throws if that is beyond any memory.
std::uint64_t bytes_needed(ElementType type, std::span<const std::size_t> shape);

/// Memory that starts at a multiple of `alignment`.
std::shared_ptr<std::byte> allocate(std::size_t size);

/// Checks all that the start of a file tells about a file of `file_bytes` bytes. `start` holds the
/// first 64 bytes or the whole of a shorter file.
Prelude read_prelude(std::span<const std::byte> start, std::uint64_t file_bytes,
                     const Limits& limits);

/// Checks a whole file; the tensors refer to it, and `owner` keeps it alive.
Model parse(std::span<const std::byte> file, const Limits& limits,
            const std::shared_ptr<const void>& owner);

/// Gives the bytes of a model file to `sink`, piece by piece, so that no second copy of a large
/// model is needed to write it.
void serialize(const Model& model, const std::function<void(std::span<const std::byte>)>& sink);

}  // namespace sdm::io
