#pragma once

#include <vector>

#include "render/field.h"
#include "sdm/render/head_model.h"
#include "sdm/render/light.h"
#include "sdm/render/mesh.h"

namespace sdm::render {

/// What a scene is made of: a head's parts in their order, then what it wears.
enum Surface : unsigned char {
  kSkin,
  kBack,
  kMouth,
  kSocket,
  kGums,
  kTeeth,
  kEye,
  kLashes,
  kHair,
  kHat,
  kCloth,
  kFrame,
  kSurfaces
};
inline Surface surface_of(Part part) { return static_cast<Surface>(part); }
static_assert(int(Part::skin) == kSkin && int(Part::lashes) == kLashes);

/// How a surface answers light, and what it is painted with.
struct Material {
  const Field* texture = nullptr;  // null: `colour` alone
  float colour = 1;                // times the texture
  float specular = 0, shininess = 10;
  float wrap = 0;       // how far light reaches around the edge of a shadow: skin lets some through
  bool cutout = false;  // there is nothing where the texture is below 0
  bool one_sided = false;

  float reflectance(float u, float v) const {
    return texture == nullptr ? colour : colour * sample(*texture, u, v);
  }
};

/// A surface that is added to a scene.
struct Piece {
  std::vector<Eigen::Vector3f> points;
  std::vector<Eigen::Vector2f> texture;
  std::vector<Triangle> triangles;

  /// Joins the last rows x columns points, row by row, with triangles.
  void join_grid(int rows, int columns);
};

/// Everything before the camera, in its frame but for the camera's distance.
struct Scene {
  Points points;
  Eigen::Matrix2Xf texture;  // of each vertex, in pixels of its material's texture
  std::vector<float> open;   // of each vertex, the share of the sky that it sees
  std::vector<Triangle> triangles;
  std::vector<unsigned char> material;  // of each triangle
  std::vector<Material> materials;      // of each surface

  void add(const Piece& piece, Surface made_of);
};

/// What of a scene comes to the camera: `raster` tells which triangle is seen, `bright` how bright
/// it is, in linear light. Both have the picture's size; where nothing is seen they stay as they
/// are.
void light_scene(const Scene& scene, const Light& light, const Camera& camera, Raster& raster,
                 Field& bright);

}  // namespace sdm::render
