#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "sdm/render/mesh.h"

namespace sdm::render {

/// What a triangle of a head is made of.
enum class Part { skin, back, mouth, socket, gums, teeth, eye, lashes };

/// A morphable head: vertices = neutral + sum of weights x modes, in centimetres, looking along z.
struct HeadModel {
  Points neutral;
  std::vector<Triangle> triangles;
  std::vector<Part> parts;               // of each triangle
  Eigen::Matrix2Xf texture;              // of each vertex: its own file's coordinates
  Matrix<float> identity, expression;    // a mode a column: x0 y0 z0 x1 ...
  std::vector<std::string> expressions;  // their names, "jawOpen"
  std::array<int, 68> landmarks{};       // vertices

  Points shape(ConstVectorRef<float> identity_weights,
               ConstVectorRef<float> expression_weights) const;
  /// -1: there is none of this name.
  int expression_index(const std::string& name) const;
};

/// Reads ICT-FaceKit as it is distributed: generic_neutral_mesh.obj, vertex_indices.json, and the
/// modes as identity000.obj, ... and a file for each expression; or as identity.npy and
/// expression.npy, differences from the neutral mesh as (modes, vertices, 3), floats of 16 or 32
/// bits. Throws Error naming the file and what is wrong with it.
HeadModel read_head_model(const std::filesystem::path& folder);

}  // namespace sdm::render
