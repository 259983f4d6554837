#include "sdm/render/head_model.h"

#include <gtest/gtest.h>

#include <cstring>

#include "render/npy.h"
#include "tests/io/expect_error.h"
#include "tests/render/small_head.h"
#include "tests/temporary_folder.h"

namespace sdm::render {
namespace {

using io::expect_error;

// A file of NumPy's, version 1.
std::string npy(const std::string& type, const std::string& shape, const std::string& numbers) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  std::string file = "\x93NUMPY";
  file += '\1';
  file += '\0';
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  return file + header + numbers;
}

std::string bytes_of(const Matrix<float>& modes) {
  std::string bytes(static_cast<std::size_t>(modes.size()) * 4, '\0');
  std::memcpy(bytes.data(), modes.data(), bytes.size());
  return bytes;
}

TEST(HeadModel, IsReadFromFilesOfModes) {
  const TemporaryFolder folder;
  const HeadModel head = make_small_head();
  write_head(head, folder.path());
  const HeadModel read = read_head_model(folder.path());
  EXPECT_TRUE(read.neutral.isApprox(head.neutral, 1e-5F));
  EXPECT_EQ(read.triangles, head.triangles);
  EXPECT_EQ(read.landmarks, head.landmarks);
  EXPECT_EQ(read.expressions, head.expressions);
  ASSERT_EQ(read.identity.cols(), 2);
  EXPECT_LT((read.identity - head.identity).cwiseAbs().maxCoeff(), 1e-4F);
  EXPECT_LT((read.expression - head.expression).cwiseAbs().maxCoeff(), 1e-4F);
}

TEST(HeadModel, IsReadFromArraysInTheirPlace) {
  const TemporaryFolder folder;
  const HeadModel head = make_small_head();
  write_head(head, folder.path());
  std::filesystem::remove(folder / "identity000.obj");
  std::filesystem::remove(folder / "jawOpen.obj");
  const std::string shape = "(2, " + std::to_string(head.neutral.cols()) + ", 3)";
  folder.write("identity.npy", npy("<f4", shape, bytes_of(head.identity)));
  folder.write("expression.npy", npy("<f4", shape, bytes_of(head.expression)));
  const HeadModel read = read_head_model(folder.path());
  EXPECT_EQ(read.identity, head.identity);
  EXPECT_EQ(read.expression, head.expression);
}

TEST(HeadModel, IsTheSumOfItsModes) {
  const HeadModel head = make_small_head();
  const Vector<float> who = Eigen::Vector2f(2, -1), looks = Eigen::Vector2f(0, 0.5F);
  const Points points = head.shape(who, looks);
  const int nose = head.landmarks[30];
  const Eigen::Vector3f p = head.neutral.col(nose);
  Eigen::Vector3f expected(p.x() * 1.06F, p.y() * 0.98F, p.z());
  if (p.x() > 1) expected.x() += 0.05F;
  EXPECT_LT((points.col(nose) - expected).norm(), 1e-5F);
}

TEST(HeadModel, ErrorsNameTheFileAndWhatIsWrong) {
  const TemporaryFolder folder;
  const HeadModel head = make_small_head();
  expect_error([&] { read_head_model(folder / "none"); }, "generic_neutral_mesh.obj");
  write_head(head, folder.path());
  const std::string shape = "(2, " + std::to_string(head.neutral.cols()) + ", 3)";

  folder.write("identity.npy", npy("<f8", shape, ""));
  expect_error([&] { read_head_model(folder.path()); },
               "identity.npy: numbers of type '<f8', expected '<f2' or '<f4'");
  folder.write("identity.npy", npy("<f4", shape, "short"));
  expect_error([&] { read_head_model(folder.path()); }, "identity.npy: 5 bytes of numbers");
  folder.write("identity.npy", npy("<f4", "(1, 1, 3)", std::string(12, '\0')));
  expect_error([&] { read_head_model(folder.path()); }, "identity.npy: expected an array of");
  const std::string count = std::to_string(head.neutral.cols());
  for (const char* beyond :
       {"\x00\x00\xc0\x7f", "\x00\x00\x80\x7f", "\x00\x50\xc3\x47"}) {  // nan, inf, 100000
    std::string numbers(std::size_t(head.neutral.cols()) * 12, '\0');
    numbers.replace(0, 4, beyond, 4);
    folder.write("identity.npy", npy("<f4", "(1, " + count + ", 3)", numbers));
    expect_error([&] { read_head_model(folder.path()); }, "expected numbers up to 10000");
  }
  folder.write("identity.npy", "PK\3\4 something else");
  expect_error([&] { read_head_model(folder.path()); }, "identity.npy: not a .npy file");
  std::filesystem::remove(folder / "identity.npy");

  folder.write("jawOpen.obj", "v 1 2 3\n");
  expect_error([&] { read_head_model(folder.path()); }, "jawOpen.obj: 1 vertices, expected");
  folder.write("jawOpen.obj", "v 1 2 three\n");
  expect_error([&] { read_head_model(folder.path()); }, "jawOpen.obj:1: 'three' is no number");
  folder.write("jawOpen.obj", "v 1 2 3e10\n");
  expect_error([&] { read_head_model(folder.path()); },
               "jawOpen.obj:1: 30000000000, expected numbers up to 10000");
  folder.write("vertex_indices.json", "{\"expressions\": [\"../x\"]}");
  expect_error([&] { read_head_model(folder.path()); }, "an expression is called '../x'");
  folder.write("vertex_indices.json", "{\"expressions\": [], \"idx_to_landmark_verts\": [1, 2]}");
  expect_error([&] { read_head_model(folder.path()); },
               "vertex_indices.json: 2 landmarks, expected 68");
  folder.write("generic_neutral_mesh.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl M_Face\nf 1 2 4\n");
  expect_error([&] { read_head_model(folder.path()); },
               "generic_neutral_mesh.obj:5: vertex '4', expected 1 to 3");
  folder.write("generic_neutral_mesh.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  expect_error([&] { read_head_model(folder.path()); }, "no faces of the material M_Face");
}

TEST(HalfFloats, AreThoseOfTheStandard) {
  EXPECT_EQ(half_to_float(0x0000), 0.0F);
  EXPECT_EQ(half_to_float(0x3c00), 1.0F);
  EXPECT_EQ(half_to_float(0xc000), -2.0F);
  EXPECT_EQ(half_to_float(0x7bff), 65504.0F);               // the largest
  EXPECT_EQ(half_to_float(0x0001), std::ldexp(1.0F, -24));  // the smallest
}

}  // namespace
}  // namespace sdm::render
