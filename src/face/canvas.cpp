#include "face/canvas.h"

namespace sdm::face {

Canvas::Canvas(const Recipe& recipe, Eigen::Index points)
    : recipe_(&recipe),
      pixels_(recipe.canvas_size(), recipe.canvas_size()),
      resample_(recipe.canvas_size(), recipe.canvas_size()),
      channels_(recipe.canvas_size(), recipe.canvas_size()),
      points_(2, points) {}

void Canvas::draw(image::ByteView grey, const Similarity& similarity) {
  const double centre = 0.5 * (pixels_.width() - 1), unit = recipe_->unit;
  const double a = static_cast<double>(similarity.a) / unit,
               b = static_cast<double>(similarity.b) / unit;
  image::AffineMap map;
  map << a, -b, static_cast<double>(similarity.x) - (a - b) * centre,  //
      b, a, static_cast<double>(similarity.y) - (a + b) * centre;
  resample_(grey, map, pixels_);
  image::gradient_channels(image::FloatView(pixels_), channels_);
}

void Canvas::describe(int stage, const Eigen::Ref<const Shape>& face, std::span<float> out,
                      bool coarse) {
  const float centre = 0.5F * static_cast<float>(pixels_.width() - 1);
  points_ = (face.array() * recipe_->unit + centre).matrix();
  image::HogOptions options = recipe_->hog(stage);
  if (coarse) options.subpixel = false;
  const std::vector<float>& scale = recipe_->patch_scale;
  if (scale.empty()) return image::hog(channels_, points_, options, out);
  const auto size = static_cast<std::size_t>(options.size());
  const float cell = options.cell;
  // Points with patches of one size that follow each other go together.
  for (std::size_t first = 0, next = 0; first < scale.size(); first = next) {
    while (next < scale.size() && scale[next] == scale[first]) ++next;
    options.cell = scale[first] * cell;
    image::hog(channels_,
               points_.middleCols(static_cast<Eigen::Index>(first),
                                  static_cast<Eigen::Index>(next - first)),
               options, out.subspan(first * size, (next - first) * size));
  }
}

}  // namespace sdm::face
