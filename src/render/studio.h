#pragma once

#include <array>
#include <vector>

#include "render/landmarks.h"
#include "render/layout.h"
#include "render/paint.h"
#include "render/person.h"
#include "sdm/base/thread_pool.h"
#include "sdm/render/face_renderer.h"

namespace sdm::render {

/// All that is prepared once and that faces are then drawn with.
struct Studio {
  /// Throws Error on a head without eyes.
  Studio(HeadModel model, const RenderOptions& given, ThreadPool& pool);

  /// A head drawn by lot, in its own frame.
  Points shape(const Person& person, const FacePaint& paint, Random& random) const;

  HeadModel head;
  RenderOptions options;
  Layout layout;
  Landmarks landmarks;
  Noise noise;
  Eigen::Matrix2Xf texture;                   // of the head's vertices, in pixels of their canvases
  std::array<int, 2> pupils{-1, -1};          // vertices, that on the picture's left first
  std::vector<float> open_closed, open_wide;  // with the mouth closed and open
  std::vector<unsigned char> surface;         // of each vertex
  std::vector<float> lips;                    // lip_heights
  std::vector<Index> outside;                 // vertices of skin and back of the head
  std::vector<Field> skins;
  std::vector<image::Image<std::uint8_t>> backgrounds;

 private:
  void prepare_texture();
  void prepare_occlusion(ThreadPool& pool);
};

}  // namespace sdm::render
