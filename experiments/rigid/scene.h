#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/registry.h"
#include "sdm/image/image_view.h"
#include "sdm/rigid/region.h"

namespace sdm::experiments {

/// A flat texture, and where on it the template lies.
struct Texture {
  std::string name;
  image::Image<float> picture;
  Eigen::Vector2d anchor;  // middle of the template
};

/// Six textures, two in a quick run: the photographs of the development data where they are, else
/// photographs that Debian packages install and as many drawn ones as are missing. `source` tells
/// which. A folder named by --data stands for all of them.
std::vector<Texture> load_textures(const ExperimentContext& context, std::string& source);

/// What the camera and the light do to a frame.
struct Conditions {
  double gain = 1, offset = 0;      // of the grey values around their middle
  double slope_x = 0, slope_y = 0;  // change of the gain over a frame
  double blur = 0, blur_angle = 0;  // motion blur of a still frame, px
  double noise = 2;                 // grey levels
};

/// Frames of a texture seen by a moving camera, with the truth.
class Scene {
 public:
  static constexpr int kWidth = 400, kHeight = 320, kTemplate = 100;

  /// What the camera sees: its size, and where the middle of the template is before it moves.
  struct View {
    int width = kWidth, height = kHeight;
    Eigen::Vector2d middle = {(kWidth - 1) / 2.0, (kHeight - 1) / 2.0};
  };

  Scene(const Texture& texture, std::uint64_t seed) : Scene(texture, seed, View()) {}
  Scene(const Texture& texture, std::uint64_t seed, const View& view);

  /// Where the template lies in the frame before anything moves.
  rigid::Quad region() const;
  /// Template coordinates to frame pixels for a motion about the middle of the template.
  rigid::Warp truth(const rigid::Warp& motion) const;

  /// The frame exposed while the motion goes from `from` to `to`. The truth is the middle of the
  /// two: truth(halfway). `number` draws the noise.
  image::ByteView render(const rigid::Warp& from, const rigid::Warp& to,
                         const Conditions& conditions, std::uint64_t number);

 private:
  const Texture& texture_;
  View view_;
  std::vector<float> noise_;
  std::uint64_t seed_;
  image::Image<float> sum_, exposure_;
  image::Image<std::uint8_t> frame_;
};

/// One of the paper's five motions, from gentle to violent.
struct MotionPath {
  std::string name;
  /// The motion at time t of n frames; t need not be whole.
  rigid::Warp (*at)(double t, int n);
  Conditions (*conditions)(double t, int n);
};

const std::vector<MotionPath>& motion_paths();

}  // namespace sdm::experiments
