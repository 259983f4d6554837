#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "sdm/base/thread_pool.h"
#include "sdm/image/image_view.h"
#include "sdm/render/head_model.h"

namespace sdm::render {

/// What is drawn. Each ingredient can be left out, to measure what it brings.
struct RenderOptions {
  float size = 200;  // of a face, px; faces vary about it
  float yaw = 65;    // degrees that heads turn aside at most
  std::uint64_t seed = 1;

  bool lamp = true;  // light from one direction, with its shadow
  bool glow = true;  // uneven light from everywhere
  bool expressions = true;
  bool shapes = true;  // widths and fullness beyond the model's identities
  bool hair = true;
  bool beards = true;
  bool glasses = true;
  bool hats = true;
  bool clothes = true;
  bool occluders = true;  // hands, microphones
  bool camera = true;     // blur, noise, compression

  /// Throws Error naming what is out of range.
  void validate() const;
};

struct RenderedFace {
  image::Image<std::uint8_t> picture;
  /// iBUG's 68 points, in pixels; the jaw's lie on the visible contour.
  Eigen::Matrix<float, 2, 68> points;
  std::array<bool, 68> visible{};  // neither behind the head nor behind something else
  Eigen::Matrix2f pupils;          // a column each, that on the left of the picture first
  /// A square about the face as a detector might find it, with a detector's error.
  Eigen::Vector2f box_corner;
  float box_size = 0;
  float yaw = 0, pitch = 0, roll = 0;  // degrees; sdm/pose/head_pose.h has the signs
  float reflectance = 0;               // of the skin, 0 to 1, linear
  int skin = -1;                       // which of the skins; -1: none
};

/// Draws faces by number: the same options and number give the same face, whatever was drawn
/// before and by however many threads.
class FaceRenderer {
 public:
  /// Prepares the head, for seconds. Throws Error on options out of range, or a head without eyes.
  FaceRenderer(HeadModel head, const RenderOptions& options, ThreadPool& pool);
  ~FaceRenderer();
  FaceRenderer(FaceRenderer&&) noexcept;
  FaceRenderer& operator=(FaceRenderer&&) noexcept;

  /// A skin's texture, grey, in the layout of `mesh`, MakeHuman's base mesh. Throws Error where the
  /// mesh has no texture coordinates.
  void add_skin(image::ByteView texture, const std::filesystem::path& mesh);
  /// A picture without people to draw faces before; without any, backgrounds are made up.
  void add_background(image::ByteView picture);

  /// Thread-safe.
  RenderedFace draw(std::uint64_t number) const;
  /// A made-up picture without a face, for what a detector must not find. Thread-safe.
  image::Image<std::uint8_t> draw_background(int width, int height, std::uint64_t number) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sdm::render
