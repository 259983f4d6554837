#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sdm::io {

/// CRC-32C (Castagnoli, as in RFC 3720, appendix B.4): finds every single damaged run of up to 32
/// bits.
std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace sdm::io
