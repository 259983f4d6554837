#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>

#include "sdm/render/head_model.h"

namespace sdm::render {

/// An ellipsoid with two eyeballs, of a head's size, in place of what cannot be shipped.
struct SmallHead {
  static constexpr float kHalfWidth = 7.5F, kHalfHeight = 11, kHalfDepth = 9;
  static inline const Eigen::Vector3f kMiddle{0, 2, 2};
};

namespace small_head {

// A sphere as a grid, stretched; triangles face outwards.
inline void add_ellipsoid(HeadModel& head, const Eigen::Vector3f& middle,
                          const Eigen::Vector3f& half, int rows, int columns, Part part) {
  const int first = static_cast<int>(head.neutral.cols());
  head.neutral.conservativeResize(3, first + (rows + 1) * columns);
  for (int i = 0; i <= rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const float down =
          std::numbers::pi_v<float> * static_cast<float>(i) / static_cast<float>(rows);
      const float around =
          2 * std::numbers::pi_v<float> * static_cast<float>(j) / static_cast<float>(columns);
      head.neutral.col(first + i * columns + j) =
          middle +
          half.cwiseProduct(Eigen::Vector3f(std::sin(down) * std::sin(around), std::cos(down),
                                            std::sin(down) * std::cos(around)));
    }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const int a = first + i * columns + j, b = first + i * columns + (j + 1) % columns;
      for (const Triangle& t :
           {Triangle{a, a + columns, b + columns}, Triangle{a, b + columns, b}}) {
        const float z = (head.neutral(2, t[0]) + head.neutral(2, t[1]) + head.neutral(2, t[2])) / 3;
        head.triangles.push_back(t);
        head.parts.push_back(part == Part::skin && z < middle.z() - 4 ? Part::back : part);
      }
    }
}

// Where iBUG's points are on a face seen from the front, roughly.
inline Eigen::Vector2f face_place(int k) {
  const auto at = [](double x, double y) {
    return Eigen::Vector2f(static_cast<float>(x), static_cast<float>(y));
  };
  const double pi = std::numbers::pi;
  if (k < 17) return at(-7 * std::cos(pi * k / 16), 3.4 - 11.8 * std::sin(pi * k / 16));
  if (k < 27) return at((k < 22 ? -5.8 : 1.2) + 1.15 * (k < 22 ? k - 17 : k - 22), 6);
  if (k < 31) return at(0, 3.7 - 1.1 * (k - 27));
  if (k < 36) return at(0.6 * (k - 33), -1.1);
  if (k < 48) {
    const int i = (k - 36) % 6;
    const double middle = k < 42 ? -3.15 : 3.15;
    return at(middle - 1.3 * std::cos(pi * i / 3), 3.4 + 0.4 * std::sin(pi * i / 3));
  }
  if (k < 60) return at(-2.5 * std::cos(pi * (k - 48) / 6), -3.4 + std::sin(pi * (k - 48) / 6));
  return at(-2.2 * std::cos(pi * (k - 60) / 4), -3.4 + 0.1 * std::sin(pi * (k - 60) / 4));
}

}  // namespace small_head

inline HeadModel make_small_head() {
  HeadModel head;
  head.neutral.resize(3, 0);
  small_head::add_ellipsoid(head, SmallHead::kMiddle,
                            {SmallHead::kHalfWidth, SmallHead::kHalfHeight, SmallHead::kHalfDepth},
                            60, 96, Part::skin);
  const auto skin = head.neutral.cols();
  for (const float side : {1.0F, -1.0F})
    small_head::add_ellipsoid(head, {side * 3.15F, 3.4F, 8.7F}, Eigen::Vector3f::Constant(1.4F), 12,
                              16, Part::eye);
  head.texture = Eigen::Matrix2Xf::Zero(2, head.neutral.cols());
  for (int k = 0; k < 68; ++k) {
    const Eigen::Vector2f place = small_head::face_place(k);
    Index nearest = 0;
    const auto off = [&](Index i) {
      return head.neutral(2, i) < 2 ? 1e6F : (head.neutral.col(i).head<2>() - place).norm();
    };
    for (Index i = 1; i < skin; ++i)
      if (off(i) < off(nearest)) nearest = i;
    head.landmarks[static_cast<std::size_t>(k)] = static_cast<int>(nearest);
  }
  head.expressions = {"jawOpen", "mouthSmile_L"};
  head.identity = Matrix<float>::Zero(head.neutral.size(), 2);
  head.expression = Matrix<float>::Zero(head.neutral.size(), 2);
  for (Index i = 0; i < head.neutral.cols(); ++i) {
    head.identity(3 * i, 0) = 0.03F * head.neutral(0, i);
    head.identity(3 * i + 1, 1) = 0.02F * head.neutral(1, i);
    if (head.neutral(1, i) < -3) head.expression(3 * i + 1, 0) = -1;
    if (head.neutral(0, i) > 1) head.expression(3 * i, 1) = 0.1F;
  }
  return head;
}

/// As ICT-FaceKit's files.
inline void write_head(const HeadModel& head, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const Points& points) {
    std::ofstream file(folder / (name + ".obj"));
    file.precision(9);
    for (Index i = 0; i < points.cols(); ++i)
      file << "v " << points(0, i) << ' ' << points(1, i) << ' ' << points(2, i) << '\n';
    for (std::size_t i = 0; i < head.triangles.size(); ++i) {
      const bool left = head.neutral(0, head.triangles[i][0]) > 0;
      const std::string material = head.parts[i] == Part::skin   ? "M_Face"
                                   : head.parts[i] == Part::back ? "M_BackHead"
                                   : left                        ? "M_ScleraLeft"
                                                                 : "M_ScleraRight";
      file << "usemtl " << material << "\nf";
      for (const int vertex : head.triangles[i]) file << ' ' << vertex + 1;
      file << '\n';
    }
  };
  write("generic_neutral_mesh", head.neutral);
  for (Index i = 0; i < head.identity.cols(); ++i)
    write("identity00" + std::to_string(i),
          head.neutral + head.identity.col(i).reshaped(3, head.neutral.cols()));
  std::string names;
  for (Index i = 0; i < head.expression.cols(); ++i) {
    const std::string& name = head.expressions[static_cast<std::size_t>(i)];
    write(name, head.neutral + head.expression.col(i).reshaped(3, head.neutral.cols()));
    names += (i > 0 ? ",\"" : "\"") + name + "\"";
  }
  std::ofstream indices(folder / "vertex_indices.json");
  indices << "{\"expressions\": [" << names << "], \"idx_to_landmark_verts\": [";
  for (std::size_t k = 0; k < 68; ++k) indices << (k > 0 ? "," : "") << head.landmarks[k];
  indices << "]}";
}

}  // namespace sdm::render
