#include "render/obj.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "base/formatted.h"
#include "base/numbers.h"
#include "sdm/io/file.h"

namespace sdm::render {
namespace {

std::string_view next_word(std::string_view& line) {
  const std::size_t start = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(start);
  const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : lines_(io::read_lines(path)) {}

  Obj read(bool vertices_only) {
    for (at_ = 0; at_ < lines_.lines.size(); ++at_) {
      std::string_view line = lines_.lines[at_];
      const std::string_view word = next_word(line);
      if (word == "v") {
        append<3>(line, vertices_);
      } else if (!vertices_only) {
        if (word == "vt") append<2>(line, texture_);
        if (word == "usemtl") material_ = name(next_word(line));
        if (word == "g") group_ = name(next_word(line));
        if (word == "f") polygon(line);
      }
    }
    if (vertices_.empty()) throw Error(lines_.name + ": no vertices, expected a Wavefront .obj");
    obj_.vertices = Eigen::Map<const Points>(vertices_.data(), 3, Index(vertices_.size() / 3));
    obj_.texture =
        Eigen::Map<const Eigen::Matrix2Xf>(texture_.data(), 2, Index(texture_.size() / 2));
    return std::move(obj_);
  }

 private:
  template <int kCount>
  void append(std::string_view line, std::vector<float>& numbers) {
    for (int i = 0; i < kCount; ++i) {
      const std::string_view word = next_word(line);
      const auto number = parse_number(word);
      if (!number)
        lines_.fail(at_, formatted("'{:.40}' is no number, expected {} of them", word, kCount));
      if (std::abs(*number) > kFarthest)
        lines_.fail(at_, formatted("{}, expected numbers up to {}", *number, kFarthest));
      numbers.push_back(static_cast<float>(*number));
    }
  }

  int index(std::string_view text, std::size_t count, const char* what) const {
    int number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (wrong != std::errc() || end != text.data() + text.size() || number < 1 ||
        static_cast<std::size_t>(number) > count)
      lines_.fail(at_, formatted("{} '{:.40}', expected 1 to {}", what, text, count));
    return number - 1;
  }

  int name(std::string_view text) {
    const auto [found, is_new] =
        indices_.try_emplace(std::string(text), static_cast<int>(indices_.size()));
    if (is_new) obj_.names.emplace_back(text);
    return found->second;
  }

  void polygon(std::string_view line) {
    std::vector<int> vertices, corners;
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const std::size_t slash = std::min(word.find('/'), word.size());
      vertices.push_back(index(word.substr(0, slash), vertices_.size() / 3, "vertex"));
      std::string_view rest = word.substr(std::min(slash + 1, word.size()));
      rest = rest.substr(0, std::min(rest.find('/'), rest.size()));
      corners.push_back(rest.empty() ? -1 : index(rest, texture_.size() / 2, "texture coordinate"));
    }
    if (vertices.size() < 3)
      lines_.fail(at_, formatted("a face of {} vertices, expected at least 3", vertices.size()));
    for (std::size_t i = 2; i < vertices.size(); ++i) {
      obj_.triangles.push_back({vertices[0], vertices[i - 1], vertices[i]});
      obj_.corners.push_back({corners[0], corners[i - 1], corners[i]});
      obj_.material.push_back(material_);
      obj_.group.push_back(group_);
    }
  }

  TextLines lines_;
  std::size_t at_ = 0;
  std::vector<float> vertices_, texture_;
  Obj obj_;
  std::map<std::string, int> indices_;  // of names
  int material_ = -1, group_ = -1;
};

}  // namespace

Obj read_obj(const std::filesystem::path& path) { return Reader(path).read(false); }

Points read_obj_vertices(const std::filesystem::path& path) {
  return Reader(path).read(true).vertices;
}

}  // namespace sdm::render
