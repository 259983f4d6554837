#include "experiments/rigid/mat_file.h"

#include <gmock/gmock.h>

#include <cstring>

#include "sdm/base/error.h"
#include "tests/temporary_folder.h"

namespace sdm::experiments {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string number(std::uint32_t value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

std::string element(std::uint32_t type, const std::string& data) {
  return number(type) + number(std::uint32_t(data.size())) + data +
         std::string((8 - data.size() % 8) % 8, '\0');
}

// A matrix of class 2 (struct), 6 (double) or 9 (bytes), from the format's description.
std::string matrix(std::uint32_t kind, int rows, int cols, const std::string& name,
                   const std::string& content) {
  return element(14, element(6, number(kind) + number(0)) +
                         element(5, number(std::uint32_t(rows)) + number(std::uint32_t(cols))) +
                         element(1, name) + content);
}

class AMatFile : public testing::Test {
 protected:
  auto read(const std::string& elements) {
    std::string header = "MATLAB 5.0 MAT-file, a test";
    header.resize(128, ' ');
    return read_mat_file(folder_.write("test.mat", header + elements));
  }
  TemporaryFolder folder_;
};

TEST_F(AMatFile, GivesMatricesAndTheFieldsOfAStruct) {
  const double values[] = {1, 2, 3, -4.5, 5, 6};
  const std::string doubles(reinterpret_cast<const char*>(values), sizeof values);
  // Four bytes fit into the tag of their element.
  const std::string small = number(4 << 16 | 2) + std::string("\x01\x02\x03\xff", 4);
  const auto found =
      read(matrix(6, 2, 3, "a", element(9, doubles)) +
           matrix(2, 1, 1, "s",
                  number(4 << 16 | 5) + number(4) + element(1, std::string("img\0box\0", 8)) +
                      matrix(9, 2, 2, "", small) + matrix(6, 1, 6, "", element(9, doubles))));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found.at("a"), (Matrix<double>(2, 3) << 1, 3, 5, 2, -4.5, 6).finished());
  EXPECT_EQ(found.at("s.img"), (Matrix<double>(2, 2) << 1, 3, 2, 255).finished());
  EXPECT_EQ(found.at("s.box")(0, 3), -4.5);
}

TEST_F(AMatFile, ThatIsCutForeignOrInconsistentIsRefused) {
  const std::string good = matrix(6, 1, 1, "a", element(9, std::string(8, '\0')));
  const auto refuse = [&](const std::string& bytes, const char* reason) {
    EXPECT_THAT([&] { read(bytes); }, ThrowsMessage<Error>(HasSubstr(reason)));
  };
  for (std::size_t size = 1; size < good.size(); ++size) refuse(good.substr(0, size), "cut");
  refuse(matrix(6, 2, 1, "a", element(9, std::string(8, '\0'))), "8 bytes for a matrix of 2 x 1");
  refuse(element(15, "compressed"), "type 15");
  const auto path = folder_.write("other.mat", "no such thing");
  EXPECT_THAT([&] { read_mat_file(path); }, ThrowsMessage<Error>(HasSubstr("no MATLAB 5 file")));
}

TEST_F(AMatFile, OfStructsInStructsHasAnEnd) {
  const double value = 1;
  std::string inner =
      matrix(6, 1, 1, "", element(9, std::string(reinterpret_cast<const char*>(&value), 8)));
  const auto nested = [&](int depth) {
    std::string text = inner;
    for (int i = 0; i < depth; ++i)
      text = matrix(2, 1, 1, "",
                    number(4 << 16 | 5) + number(2) + element(1, std::string("a\0", 2)) + text);
    return text;
  };
  EXPECT_EQ(read(nested(30)).size(), 1u);
  EXPECT_THAT([&] { read(nested(2000)); },
              ThrowsMessage<Error>(HasSubstr("structs nest deeper than 32 levels")));
}

}  // namespace
}  // namespace sdm::experiments
