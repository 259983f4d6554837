#include "face/canvas.h"

#include <algorithm>
#include <cmath>

namespace sdm::face {
namespace {

// Points move on a canvas before it is drawn anew. In nine of ten faces by less than this, in
// units; what is drawn once too much costs as much as what is drawn twice.
constexpr float kMargin = 0.05F;

}  // namespace

Canvas::Canvas(const Recipe& recipe, Eigen::Index points)
    : recipe_(&recipe),
      pixels_(recipe.canvas_size(), recipe.canvas_size()),
      resample_(recipe.canvas_size(), recipe.canvas_size()),
      channels_(recipe.canvas_size(), recipe.canvas_size()),
      points_(2, points) {}

void Canvas::start(image::ByteView grey) {
  grey_ = grey;
  is_new_ = true;
}

float Canvas::half_width(const image::HogOptions& options) const {
  const std::vector<float>& scale = recipe_->patch_scale;
  const float largest = scale.empty() ? 1 : *std::max_element(scale.begin(), scale.end());
  return 0.5F * static_cast<float>(options.cells) * options.cell * largest;
}

void Canvas::draw(const Similarity& similarity, int stage) {
  half_ = half_width(recipe_->hog(stage));
  const double centre = 0.5 * (pixels_.width() - 1), unit = recipe_->unit;
  const double a = static_cast<double>(similarity.a) / unit,
               b = static_cast<double>(similarity.b) / unit;
  map_ << a, -b, static_cast<double>(similarity.x) - (a - b) * centre,  //
      b, a, static_cast<double>(similarity.y) - (a + b) * centre;
  drawn_ = {};
}

void Canvas::draw(const Window& window) {
  drawn_ = window;
  image::AffineMap map = map_;
  map.col(2) += map.leftCols<2>() * Eigen::Vector2d(window.left, window.top);
  const image::ImageView<std::int16_t> part =
      pixels_.view().crop(0, 0, window.right - window.left, window.bottom - window.top);
  resample_(grey_, map, part, !is_new_);
  is_new_ = false;
  image::gradient_channels(image::PartsView(part), channels_);
}

Canvas::Window Canvas::touched(Eigen::Index count, float half, float more) const {
  const int size = pixels_.width();
  // Two points at once, which Eigen's own reductions along rows do not. What is not finite has no
  // zero for a product with zero.
  using Two = Eigen::Array4f;
  const auto two = [&](Eigen::Index i) { return Eigen::Map<const Two>(points_.col(i).data()); };
  Two low, high, zero = Two::Zero();
  low << points_.col(count - 1), points_.col(count - 1);
  high = low;
  zero = 0 * low;
  for (Eigen::Index i = 0; i + 1 < count; i += 2) {
    low = low.min(two(i));
    high = high.max(two(i));
    zero += 0 * two(i);
  }
  if (!(zero == 0).all()) return {0, 0, size, size};
  // Pixels are squares around their places, and a gradient looks at both neighbours.
  const auto first = [&](float low) {
    return static_cast<int>(
        std::clamp(std::floor(low + 0.5F - half) - 1 - more, 0.0F, static_cast<float>(size - 1)));
  };
  const auto last = [&](float high, int begin) {
    return static_cast<int>(std::clamp(std::ceil(high + 0.5F + half) + 1 + more,
                                       static_cast<float>(begin + 1), static_cast<float>(size)));
  };
  const int left = first(std::min(low[0], low[2])), top = first(std::min(low[1], low[3]));
  return {left, top, last(std::max(high[0], high[2]), left), last(std::max(high[1], high[3]), top)};
}

template <class T, class Hog>
void Canvas::describe(int stage, const Eigen::Ref<const Shape>& face, image::HogOptions options,
                      std::span<T> out, Hog hog) {
  const float centre = 0.5F * static_cast<float>(pixels_.width() - 1);
  const std::vector<int>& part = recipe_->stages[static_cast<std::size_t>(stage)].points;
  const Eigen::Index count = part.empty() ? face.cols() : static_cast<Eigen::Index>(part.size());
  const auto point = [&](Eigen::Index i) {
    return part.empty() ? i : Eigen::Index(part[static_cast<std::size_t>(i)]);
  };
  for (Eigen::Index i = 0; i < count; ++i)
    points_.col(i) = (face.col(point(i)).array() * recipe_->unit + centre).matrix();
  const float half = half_width(options);
  const Window needed = touched(count, half, 0);
  if (needed.left < drawn_.left || needed.top < drawn_.top || needed.right > drawn_.right ||
      needed.bottom > drawn_.bottom)
    draw(touched(count, std::max(half, half_), std::ceil(kMargin * recipe_->unit)));
  points_.leftCols(count).colwise() -= Eigen::Vector2i(drawn_.left, drawn_.top).cast<float>();
  const std::vector<float>& scale = recipe_->patch_scale;
  if (scale.empty()) return hog(points_.leftCols(count), options, out);
  const Eigen::Index size = options.size();
  const float cell = options.cell;
  const auto scale_of = [&](Eigen::Index i) { return scale[static_cast<std::size_t>(point(i))]; };
  // Points with patches of one size that follow each other go together.
  for (Eigen::Index first = 0, next = 0; first < count; first = next) {
    while (next < count && scale_of(next) == scale_of(first)) ++next;
    options.cell = scale_of(first) * cell;
    hog(points_.middleCols(first, next - first), options,
        out.subspan(static_cast<std::size_t>(first * size),
                    static_cast<std::size_t>((next - first) * size)));
  }
}

void Canvas::describe(int stage, const Eigen::Ref<const Shape>& face, std::span<float> out,
                      bool coarse) {
  image::HogOptions options = recipe_->hog(stage);
  if (coarse) options.subpixel = false;
  describe(stage, face, options, out, [&](const auto& points, const auto& of_size, auto part) {
    image::hog(channels_, points, of_size, part);
  });
}

void Canvas::describe(int stage, const Eigen::Ref<const Shape>& face, float step,
                      std::span<std::int16_t> out) {
  describe(stage, face, recipe_->hog(stage), out,
           [&](const auto& points, const auto& of_size, auto part) {
             image::hog(channels_, points, of_size, step, part);
           });
}

}  // namespace sdm::face
