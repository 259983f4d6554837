#include "io/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace sdm::io {
namespace {

std::uint32_t crc_of(const std::string& text) {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

// RFC 3720, appendix B.4, and the check value of the CRC catalogues.
TEST(Crc32c, GivesThePublishedValues) {
  EXPECT_EQ(crc_of(""), 0u);
  EXPECT_EQ(crc_of("123456789"), 0xE3069283u);
  EXPECT_EQ(crc_of(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc_of(std::string(32, '\xFF')), 0x62A8AB43u);
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  EXPECT_EQ(crc_of(rising), 0x46DD794Eu);
}

TEST(Crc32c, EqualsTheBitByBitDefinitionForEveryLength) {
  std::string text;
  for (unsigned length = 0; length < 70; ++length) {
    std::uint32_t crc = ~0u;
    for (const char c : text) {
      crc ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0x82F63B78u : 0u);
    }
    EXPECT_EQ(crc_of(text), ~crc) << length;
    text += static_cast<char>(length * 37 + 11);
  }
}

}  // namespace
}  // namespace sdm::io
