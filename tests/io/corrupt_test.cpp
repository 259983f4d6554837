#include <cstring>

#include "io/format.h"
#include "sdm/io/bytes.h"
#include "tests/io/expect_error.h"
#include "tests/io/sample.h"
#include "tests/io/seal.h"

namespace sdm::io {
namespace {

using Bytes = std::vector<std::byte>;

Bytes from_text(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

// Two tensors, so that there is a first, a second and a place between them.
Bytes small_file() {
  Model model;
  model.kind = "pose";
  model.header = R"({"a": 1})";
  model.put("A", to_tensor(std::vector<float>{1, 2, 3}));
  model.put("B", to_tensor(std::vector<double>{4, 5}));
  return to_bytes(model);
}

constexpr std::size_t table_at = 128;  // 64 bytes of prelude, 64 of header with its padding
constexpr std::size_t entry_bytes = sizeof(Entry) + 8 + 1;

template <class T>
void set(Bytes& file, std::size_t at, T value) {
  ASSERT_LE(at + sizeof value, file.size());
  std::memcpy(file.data() + at, &value, sizeof value);
}

void expect_unreadable(const Bytes& file, const std::string& part, const Limits& limits = {}) {
  expect_error([&] { read(file, limits); }, part);
}

// The file with one field changed and all checksums made right again.
template <class T>
Bytes forged(std::size_t at, T value) {
  Bytes file = small_file();
  set(file, at, value);
  seal(file);
  return file;
}

TEST(CorruptFile, SealingAnUntouchedFileChangesNothing) {
  Bytes file = to_bytes(sample_model());
  const Bytes before = file;
  seal(file);
  EXPECT_EQ(file, before);
}

TEST(CorruptFile, EveryFlippedBitIsAnError) {
  Bytes file = to_bytes(sample_model());
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    const auto flip = std::byte(1 << (bit % 8));
    file[bit / 8] ^= flip;
    EXPECT_THROW(read(file), Error) << "byte " << bit / 8 << ", bit " << bit % 8;
    file[bit / 8] ^= flip;
  }
  EXPECT_EQ(read(file), sample_model());
}

TEST(CorruptFile, EveryReplacedByteIsAnError) {
  Bytes file = small_file();
  for (std::byte& b : file) {
    const std::byte before = b;
    for (int value = 0; value < 256; ++value) {
      b = std::byte(value);
      if (b == before) continue;
      EXPECT_THROW(read(file), Error) << "byte " << &b - file.data();
    }
    b = before;
  }
}

TEST(CorruptFile, EveryCutSaysWhere) {
  const Bytes file = to_bytes(sample_model());
  for (std::size_t size = 1; size < file.size(); ++size) {
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    expect_unreadable(cut, "cut at byte " + std::to_string(size) + ", expected " +
                               (size < 64 ? "at least 64" : std::to_string(file.size())));
  }
}

TEST(CorruptFile, AFlippedBitWithItsChecksumForgedIsReadAsWrittenOrAnError) {
  const Bytes file = small_file();
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    Bytes changed = file;
    changed[bit / 8] ^= std::byte(1 << (bit % 8));
    seal(changed);
    try {
      EXPECT_EQ(to_bytes(read(changed)), changed);
    } catch (const Error&) {
    }
  }
}

TEST(CorruptFile, ForeignFilesAreNamed) {
  expect_unreadable({}, "the file is empty");
  expect_unreadable(
      from_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"),
      "a Git-LFS pointer");
  expect_unreadable(from_text("PK\x03\x04 and so on"), "a zip archive");
  expect_unreadable(from_text("\x1f\x8b\x08 and so on"), "a gzip file");
  expect_unreadable(from_text("BZh91AY"), "a bzip2 file");
  expect_unreadable(from_text("\xFD"
                              "7zXZ and so on"),
                    "an xz file");
  expect_unreadable(from_text("\x28\xB5\x2F\xFD and so on"), "a zstd file");
  expect_unreadable(from_text("<!DOCTYPE html><html>"), "an HTML page");
  expect_unreadable(from_text("Hello, this is a text."), "not a model file");
  expect_unreadable(from_text("x"), "not a model file");
}

TEST(CorruptFile, ChangedLineEndsAreNamed) {
  Bytes file = small_file();
  file.erase(file.begin() + 4);  // "\r\n" became "\n"
  expect_unreadable(file, "line ends were changed in transfer");
}

TEST(CorruptFile, ANewerVersionIsNamedEvenIfItsLayoutIsUnknown) {
  Bytes file = small_file();
  set<std::uint32_t>(file, 8, 7);
  expect_unreadable(file, "format version 7, but this program reads up to 1");
  file.resize(20);
  expect_unreadable(file, "format version 7");
  expect_unreadable(forged<std::uint32_t>(8, 0), "format version 0");
}

TEST(CorruptFile, BytesAfterTheEndAreNamed) {
  Bytes file = small_file();
  const auto end = std::to_string(file.size());
  file.resize(file.size() + 3);
  expect_unreadable(file, "3 bytes follow the end of the model at byte " + end);
}

TEST(CorruptFile, TheDamagedPartIsNamed) {
  Bytes file = small_file();
  const auto flipped = [&](std::size_t at) {
    Bytes changed = file;
    changed[at] ^= std::byte{1};
    return changed;
  };
  expect_unreadable(flipped(24), "checksum of its first 64 bytes does not match");
  expect_unreadable(flipped(66), "checksum of the header and tensor table does not match");
  expect_unreadable(flipped(table_at + 1),
                    "checksum of the header and tensor table does not match");
  expect_unreadable(flipped(file.size() - 128), "checksum of tensor 'A' does not match");
  expect_unreadable(flipped(file.size() - 64), "checksum of tensor 'B' does not match");
  expect_unreadable(flipped(file.size() - 1), "padding after tensor 'B' is not zero");
}

TEST(CorruptFile, ForgedSizesAreCaughtBeforeAnythingIsAllocated) {
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  expect_unreadable(forged<std::uint64_t>(16, huge), "expected 18446744073709551615");
  expect_unreadable(forged<std::uint64_t>(24, huge),
                    "the header has 18446744073709551615 bytes, the limit");
  expect_unreadable(forged<std::uint64_t>(24, 4000), "header and tensor table claim 4000");
  expect_unreadable(forged<std::uint64_t>(32, huge),
                    "header and tensor table claim 8 and 18446744073709551615");
  expect_unreadable(forged<std::uint32_t>(12, ~0u), "4294967295 tensors, the limit is 65536");
  expect_unreadable(forged<std::uint32_t>(12, 60000), "the tensor table ends inside entry 2");
  expect_unreadable(forged<std::uint32_t>(12, 1), "25 bytes follow the last table entry");
  expect_unreadable(forged<std::uint64_t>(32, 40),
                    "the padding after the header or the tensor table is not zero");
}

// Where tensors end would lie beyond the end of such a file.
TEST(CorruptFile, AForgedFileWithoutItsLastPaddingIsNamed) {
  const Bytes whole = small_file();
  for (std::size_t missing = 1; missing < alignment; ++missing) {
    Bytes file(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(missing));
    set<std::uint64_t>(file, offsetof(Prelude, file_bytes), file.size());
    seal(file);
    expect_unreadable(
        file, "its size of " + std::to_string(file.size()) + " bytes is not a multiple of 64");
  }
}

TEST(CorruptFile, ForgedTableEntriesAreNamed) {
  expect_unreadable(forged<std::uint8_t>(table_at + 4, 99), "tensor 'A' has element type 99");
  expect_unreadable(forged<std::uint8_t>(table_at + 4, 0), "tensor 'A' has element type 0");
  expect_unreadable(forged<std::uint8_t>(table_at + 5, 200), "tensor 0 has rank 200, at most 8");
  expect_unreadable(forged<std::uint16_t>(table_at + 6, 65535),
                    "the tensor table ends inside entry 0");
  expect_unreadable(forged<std::uint16_t>(table_at + 6, 0),
                    "the name of tensor 0 has 0 characters");
  expect_unreadable(forged<std::uint64_t>(table_at + 8, 0),
                    "tensor 'A' starts at byte 0, expected 192");
  expect_unreadable(forged<std::uint64_t>(table_at + 8, ~0ull), "tensor 'A' starts at byte");
  expect_unreadable(forged<std::uint64_t>(table_at + 16, 1ull << 62),
                    "tensor 'A': shape [4611686018427387904] is too large");
  expect_unreadable(forged<std::uint64_t>(table_at + 16, 1ull << 40),
                    "tensor 'A' needs 4398046511104 bytes from byte 192");
  expect_unreadable(forged<std::uint64_t>(table_at + 16, 20),
                    "tensor 'B' starts at byte 256, expected 320");
  expect_unreadable(forged<char>(table_at + 24, '\x1b'), "the name of tensor 0 holds byte 0x1b");
  expect_unreadable(forged<char>(table_at + entry_bytes + 24, 'A'), "tensor 'A' appears twice");
  expect_unreadable(forged<char>(table_at + 24, 'Z'), "tensor 'B' comes after 'Z'");
}

TEST(CorruptFile, AForgedHeaderOrKindIsNamed) {
  expect_unreadable(forged<char>(64, '['), "the JSON header is broken at byte");
  expect_unreadable(forged<char>(40, '\x1b'), "the model's kind");
  expect_unreadable(forged<char>(40, '\0'), "kind has 0 characters");
  expect_unreadable(forged<char>(50, 'x'), "kind is not padded with zeros");
  expect_unreadable(forged<char>(100, 'x'), "padding after the header");
  expect_unreadable(forged<char>(191, 'x'), "padding after the header or the tensor table");
}

TEST(CorruptFile, LimitsAreTheCallers) {
  const Bytes file = small_file();
  expect_unreadable(file, "the limit is 100", {.file_bytes = 100});
  expect_unreadable(file, "the header has 8 bytes, the limit is 7", {.header_bytes = 7});
  expect_unreadable(file, "the file has 2 tensors, the limit is 1", {.tensors = 1});
}

}  // namespace
}  // namespace sdm::io
