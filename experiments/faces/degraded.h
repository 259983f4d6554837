#pragma once

#include <cstdint>
#include <filesystem>

#include "experiments/registry.h"
#include "sdm/face/model.h"
#include "sdm/image/image_view.h"

namespace sdm::experiments {

/// A labelled face and the box that its search starts from.
struct BoxedFace {
  image::Image<std::uint8_t> picture;
  face::Shape points;
  face::Box box;

  /// The width of the box around its points, px.
  double width() const;
};

/// Shrunk by area averaging until the face is so many pixels wide, with its points and box. A
/// smaller face stays as it is.
BoxedFace shrunk_to(const BoxedFace& face, double width);
/// Lengths are in per cent of the face's width.
BoxedFace gaussian_blurred(BoxedFace face, double deviation);
BoxedFace motion_blurred(BoxedFace face, double length, double angle);
/// So many times less light and no longer exposure: dark, with the noise of photons (a white pixel
/// had 2000 in full light) and of reading them (one grey level), in whole grey levels.
BoxedFace in_less_light(BoxedFace face, double times, std::uint64_t seed, std::uint64_t index);

/// Error of the shipped models and of dlib's against the size of the face, blur and light, from the
/// same boxes: rows, a figure and a table for each set of labelled faces in the folder (`dev`,
/// `lfpw_test`) that has boxes of dlib's detector.
void measure_degraded(const ExperimentContext& context, const std::filesystem::path& folder,
                      const face::Model& accurate, const face::Model& fast, Results& results);

}  // namespace sdm::experiments
