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
  const std::vector<int>& part = recipe_->stages[static_cast<std::size_t>(stage)].points;
  const Eigen::Index count = part.empty() ? face.cols() : static_cast<Eigen::Index>(part.size());
  const auto point = [&](Eigen::Index i) {
    return part.empty() ? i : Eigen::Index(part[static_cast<std::size_t>(i)]);
  };
  for (Eigen::Index i = 0; i < count; ++i)
    points_.col(i) = (face.col(point(i)).array() * recipe_->unit + centre).matrix();
  image::HogOptions options = recipe_->hog(stage);
  if (coarse) options.subpixel = false;
  const std::vector<float>& scale = recipe_->patch_scale;
  if (scale.empty()) return image::hog(channels_, points_.leftCols(count), options, out);
  const Eigen::Index size = options.size();
  const float cell = options.cell;
  const auto scale_of = [&](Eigen::Index i) { return scale[static_cast<std::size_t>(point(i))]; };
  // Points with patches of one size that follow each other go together.
  for (Eigen::Index first = 0, next = 0; first < count; first = next) {
    while (next < count && scale_of(next) == scale_of(first)) ++next;
    options.cell = scale_of(first) * cell;
    image::hog(channels_, points_.middleCols(first, next - first), options,
               out.subspan(static_cast<std::size_t>(first * size),
                           static_cast<std::size_t>((next - first) * size)));
  }
}

}  // namespace sdm::face
