#include "tests/fuzz/text_formats.h"

#include <cstdint>
#include <cstring>

namespace sdm::fuzz {
namespace {

std::string number(std::uint32_t value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

std::string element(std::uint32_t type, const std::string& data) {
  return number(type) + number(std::uint32_t(data.size())) + data +
         std::string((8 - data.size() % 8) % 8, '\0');
}

// A struct with a matrix of two bytes, as MATLAB 5 has it.
std::string mat_file() {
  const auto matrix = [](std::uint32_t kind, const std::string& name, const std::string& content) {
    return element(14, element(6, number(kind) + number(0)) + element(5, number(1) + number(2)) +
                           element(1, name) + content);
  };
  std::string header = "MATLAB 5.0 MAT-file";
  header.resize(128, ' ');
  return header + matrix(2, "s",
                         element(5, number(2)) + element(1, std::string("a\0", 2)) +
                             matrix(9, "", element(2, "\x01\x02")));
}

std::string nist_file(int parameters, const std::string& data) {
  std::string text = "Data:          1 Response\n";
  for (int i = 1; i <= parameters; ++i)
    text += "  b" + std::to_string(i) + " =   500  250  2.5E+02  2.7E+00\n";
  return text + "Residual Sum of Squares:   1.5E-01\nData:   y   x\n" + data;
}

std::string npy_file(const std::string& type, const std::string& shape, std::size_t bytes) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(117, ' ');
  return std::string("\x93NUMPY\x01\0\x76\0", 10) + header + '\n' + std::string(bytes, '\x3c');
}

std::string vertex_indices() {
  std::string landmarks = "0";
  for (int i = 1; i < 68; ++i) landmarks += ',' + std::to_string(i % 3);
  return R"({"expressions":["jawOpen"],"idx_to_landmark_verts":[)" + landmarks + "]}";
}

}  // namespace

const std::vector<TextFormat>& text_formats() {
  static const std::vector<TextFormat> formats{
      {"a.csv",
       {"file,x0,y0,x1,y1\na.jpg,1,2,3.5,4\n\"b, c.jpg\",,,nan,nan\n",
        "file,tip.x,tip.y,group,scale\na.jpg,1,2,g,0.5\n", "a.jpg,1,2,3,4\n"}},
      {"a.pts", {"version: 1\nn_points: 2\n{\n1.5 2\n3 4\n}\n"}},
      {"a.tps",
       {"LM=2\n1 2\n-1 -1\nIMAGE=a.jpg\nID=1\nSCALE=0.01\nLM=2\n1. 2.\n3 4\nIMAGE=b.jpg\n"}},
      {"a.xml",
       {"<?xml version='1.0'?><dataset><images><image file='a&amp;b.jpg'><box top='1' left='2' "
        "width='3' height='4' ignore='0'><part name='00' x='1' y='2'/><part name='1' x='3' "
        "y='4'/></box></image></images></dataset>\n",
        "<image file='a'><!-- c --><box top='1' left='2' width='3' height='4'><part name='tip' "
        "x='1' y='2'/></box></image>"}},
      {"a.txt", {"a.jpg 1 2 3 4 5\nb.jpg 0.5 1\n# c\n\"d e.jpg\" 2 1 2 3 4 5 6 7 8\n"}},
      {"boxes.csv",
       {"file,x,y,w,h\na.jpg,1,2,3,4\nb.jpg,,,,\n",
        "file,haar_x,haar_y,haar_w,haar_h,b_x,b_y,b_w,b_h\na,1,2,3,4,5,6,7,8\n"}},
      {"mirror.txt", {"1 0 2\n4 3\n"}},
      {"a.obj", {"# c\ng a\nv 1 2 3\nv 4 5 6.5 1\nvn 0 0 1\ng b\nf 1 2 1\nv 0 0 0\n"}},
      {"points.csv", {"x,y,z\n1,2,3\n4,5,6\n"}},
      {"Nelson.dat", {nist_file(3, " 15.00E0 1E0 180E0\n 17.00E0 1E0 180E0\n")}},
      {"Misra1a.dat", {nist_file(2, " 10.07E0 77.6E0\n 14.73E0 114.9E0\n")}},
      {"a.mat", {mat_file()}},
      {"head.obj",
       {"usemtl M_Face\ng a\nv 1 2 3\nv 4 5 6.5\nv 0 0 1\nvt 0 1\nvt 1 1\nf 1/1 2/2 3/1/1 "
        "1\nusemtl b\n"
        "f 1 2 3\n"}},
      {"identity.npy", {npy_file("<f4", "(1, 3, 3)", 36), npy_file("<f2", "(2, 3, 3)", 36)}},
      {"vertex_indices.json", {vertex_indices()}},
      {"sent_marks.json",
       {R"({"revision":0,"done":true,"seconds":2.5,"objects":[{"points":[[1,2.5],"hidden"],"box":[1,2,3,4]},)"
        R"({"points":[null,[3,4]],"box":null,"group":"g","scale":0.5}]})"}},
      {"sent_box.json", {R"({"box":[1,2,30.5,40]})"}},
      {"journal.jsonl",
       {"{\"points\":[\"tip\",\"left\"]}\n{\"file\":\"a.jpg\",\"revision\":3,\"done\":false,"
        "\"objects\":[{\"points\":[[1,2],null]}]}\n"}}};
  return formats;
}

}  // namespace sdm::fuzz
