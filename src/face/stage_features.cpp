#include "face/stage_features.h"

#include <algorithm>

#include "base/formatted.h"
#include "face/products.h"
#include "face/shape_state.h"
#include "sdm/base/error.h"

namespace sdm::face {

StageFeatures::StageFeatures(const Model& model)
    : model_(&model), canvas_(model.recipe, model.points()) {
  Index features = 0, folded = 0;
  for (std::size_t i = 0; i < model.maps.size(); ++i) {
    const StageRecipe& stage = model.recipe.stages[i];
    foldings_.emplace_back(stage, model.points(), model.mirror);
    steps_.push_back(
        narrow_step(model.recipe.hog(static_cast<int>(i)), stage.count(model.points())));
    features = std::max(features, foldings_.back().features());
    folded = std::max(folded, foldings_.back().size());
  }
  patches_.resize(static_cast<std::size_t>(features));
  sums_.resize(static_cast<std::size_t>(folded));
  differences_.resize(static_cast<std::size_t>(folded));
  narrow_patches_.resize(static_cast<std::size_t>(features));
  narrow_sums_.resize(static_cast<std::size_t>(folded));
  narrow_differences_.resize(static_cast<std::size_t>(folded));
  offset_.resize(2 * model.points());
}

Index StageFeatures::patch_sums_size() const {
  return foldings_[static_cast<std::size_t>(model_->recipe.last_whole_stage())].size();
}

Index StageFeatures::patches_size() const {
  return foldings_[static_cast<std::size_t>(model_->recipe.last_whole_stage())].features();
}

void StageFeatures::start(image::ByteView grey) {
  if (grey.empty())
    throw Error(formatted("the picture is {} x {}, expected some pixels", grey.width, grey.height));
  canvas_.start(grey);
  is_drawn_ = false;
}

void StageFeatures::draw(const Similarity& similarity, int stage) {
  canvas_.draw(similarity, stage);
  is_drawn_ = true;
  drawn_ = similarity;
}

void StageFeatures::operator()(int stage, ConstVectorRef<float> state, VectorRef<float> out) {
  const Similarity similarity = similarity_of(state);
  if (!is_drawn_ || similarity != drawn_) draw(similarity, stage);

  const CompactMap& map = model_->maps[static_cast<std::size_t>(stage)];
  const Folding& folding = foldings_[static_cast<std::size_t>(stage)];
  const auto features = static_cast<std::size_t>(folding.features()),
             size = static_cast<std::size_t>(folding.size());
  const float step = steps_[static_cast<std::size_t>(stage)];
  canvas_.describe(stage, shape_of(state), step, {narrow_patches_.data(), features});
  Eigen::Map<Shape>(offset_.data(), 2, model_->points()) =
      model_->recipe.shape_weight *
      model_->recipe.stages[static_cast<std::size_t>(stage)].shape_scale *
      (shape_of(state) - model_->mean);

  fold(folding, {narrow_patches_.data(), features}, {narrow_sums_.data(), size},
       {narrow_differences_.data(), size});
  const std::int8_t* values = map.values.as<std::int8_t>().data();
  const float* scale = map.scale.as<float>().data();
  multiply_i8(values, scale, map.even, folding.size(), narrow_sums_.data(), step, out.data());
  multiply_i8(values + map.even * folding.size(), scale + map.even, map.rank() - map.even,
              folding.size(), narrow_differences_.data(), step, out.data() + map.even);
  add_product(map.shape, offset_.data(), out.data());
}

Eigen::Ref<const Vector<float>> StageFeatures::patch_sums(ConstVectorRef<float> state) {
  const int stage = model_->recipe.last_whole_stage();
  const Folding& folding = foldings_[static_cast<std::size_t>(stage)];
  const auto features = static_cast<std::size_t>(folding.features()),
             size = static_cast<std::size_t>(folding.size());
  const Similarity similarity = similarity_of(state);
  if (!is_drawn_) draw(similarity, 0);
  // Before a face is drawn anew it is seen on the canvas as it is.
  Eigen::Map<Shape> shape(offset_.data(), 2, model_->points());
  shape = shape_of(state);
  if (similarity != drawn_) {
    similarity.to_image(shape, shape);
    drawn_.to_face(shape, shape);
  }
  canvas_.describe(stage, shape, {patches_.data(), features}, true);
  fold(folding, {patches_.data(), features}, {sums_.data(), size}, {differences_.data(), size});
  return Eigen::Map<const Vector<float>>(sums_.data(), folding.size());
}

}  // namespace sdm::face
