#pragma once

#include <cstring>
#include <vector>

#include "io/crc32c.h"
#include "io/format.h"

namespace sdm::io {

/// Makes every checksum of a changed model file right again, as far as its layout can still be
/// followed: a forger's file, that gets past the checksums to the checks behind them.
inline void seal(std::vector<std::byte>& file) {
  Prelude prelude;
  if (file.size() < sizeof prelude) return;
  std::memcpy(&prelude, file.data(), sizeof prelude);
  const std::span<const std::byte> bytes(file);
  const auto inside = [&](std::uint64_t at, std::uint64_t size) {
    return at <= file.size() && size <= file.size() - at;
  };
  if (inside(sizeof prelude, prelude.header_bytes) && inside(sizeof prelude, prelude.table_bytes)) {
    std::uint64_t at = sizeof prelude + aligned(prelude.header_bytes);
    const std::uint64_t end = at + prelude.table_bytes;
    for (std::uint32_t i = 0; i < prelude.tensors; ++i) {
      Entry entry;
      if (end > file.size() || at + sizeof entry > end) break;
      std::memcpy(&entry, file.data() + at, sizeof entry);
      const std::uint64_t shape_at = at + sizeof entry;
      const std::uint64_t next = shape_at + 8ull * entry.rank + entry.name_bytes;
      if (next > end) break;
      std::uint64_t size = size_of(static_cast<ElementType>(entry.type));
      for (std::uint64_t r = 0, n; r < entry.rank; ++r, size *= n)
        std::memcpy(&n, file.data() + shape_at + 8 * r, 8);
      if (inside(entry.offset, size)) {
        entry.checksum = crc32c(bytes.subspan(entry.offset, size));
        std::memcpy(file.data() + at, &entry, sizeof entry);
      }
      at = next;
    }
    const std::uint64_t head = aligned(prelude.header_bytes) + aligned(prelude.table_bytes);
    if (inside(sizeof prelude, head))
      prelude.head_checksum = crc32c(bytes.subspan(sizeof prelude, head));
  }
  std::memcpy(file.data(), &prelude, sizeof prelude);
  prelude.checksum = crc32c(bytes.first(sizeof prelude - sizeof prelude.checksum));
  std::memcpy(file.data(), &prelude, sizeof prelude);
}

}  // namespace sdm::io
