#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sdm/render/mesh.h"

namespace sdm::render {

/// No number of a head is larger, centimetres or otherwise: what is drawn is counted in pixels.
inline constexpr float kFarthest = 1e4F;

/// A Wavefront file: polygons as fans of triangles, with the material and the group of each.
struct Obj {
  Points vertices;
  Eigen::Matrix2Xf texture;          // coordinates
  std::vector<Triangle> triangles;   // of vertices
  std::vector<Triangle> corners;     // of texture coordinates; -1: none
  std::vector<int> material, group;  // of each triangle, in `names`
  std::vector<std::string> names;
};

/// Throws Error as FILE:LINE where a line is wrong.
Obj read_obj(const std::filesystem::path& path);
/// The vertices alone.
Points read_obj_vertices(const std::filesystem::path& path);

}  // namespace sdm::render
