#include "face/train/face_problem.h"

#include "face/mirror.h"
#include "sdm/image/hog.h"

namespace sdm::face {
FaceProblem::FaceProblem(const std::vector<TrainingFace>& faces, const Recipe& recipe,
                         const Shape& mean, const std::vector<int>& mirror,
                         std::vector<Index> face_of_sample, Index first_face)
    : faces_(&faces),
      recipe_(recipe),
      mean_(mean),
      mirror_(mirror),
      face_of_sample_(std::move(face_of_sample)),
      first_face_(first_face),
      errors_(face_of_sample_.size(), 0.0) {}

Index FaceProblem::group(Index sample) const {
  const Index group = of(sample).group;
  return group < 0 ? first_face_ + face(sample) : group;
}

Index FaceProblem::feature_size(int stage) const {
  return recipe_.stages[static_cast<std::size_t>(stage)].count(points()) *
             recipe_.hog(stage).size() +
         2 * points();
}

void FaceProblem::features(Index sample, int stage, ConstVectorRef<float> x,
                           VectorRef<float> out) const {
  std::unique_ptr<Canvas> canvas;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      canvas = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!canvas) canvas = std::make_unique<Canvas>(recipe_, points());
  const Index patches = out.size() - 2 * points();
  canvas->start(of(sample).picture);
  canvas->draw(similarity_of(x), stage);
  canvas->describe(stage, shape_of(x), {out.data(), static_cast<std::size_t>(patches)});
  Eigen::Map<Shape>(out.data() + patches, 2, points()) =
      recipe_.shape_weight * recipe_.stages[static_cast<std::size_t>(stage)].shape_scale *
      (shape_of(x) - mean_);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(canvas));
}

void FaceProblem::difference(ConstVectorRef<float> x, ConstVectorRef<float> target,
                             VectorRef<float> out) const {
  shape_difference(x, shape_of(target), out);
}

void FaceProblem::step(int stage, ConstVectorRef<float> x, ConstVectorRef<float> delta,
                       VectorRef<float> out) const {
  shape_step(recipe_, mean_, stage, x, delta, out);
}

double FaceProblem::error(Index sample, ConstVectorRef<float> delta) const {
  const Shape& truth = of(sample).truth;
  const auto lengths = Eigen::Map<const Shape>(delta.data(), 2, points()).colwise().norm();
  double sum = 0, known = 0;
  if (truth.allFinite()) {
    sum = static_cast<double>(lengths.mean());
    known = 1;
  } else {
    for (Index p = 0; p < points(); ++p)
      if (truth.col(p).allFinite()) sum += static_cast<double>(lengths[p]), ++known;
  }
  return errors_[static_cast<std::size_t>(sample)] = sum / known;
}

Symmetry FaceProblem::symmetry(int stage) const {
  if (mirror_.empty()) return {};
  Symmetry symmetry;
  const auto& [cells, cell, redraw, part, shape_scale] =
      recipe_.stages[static_cast<std::size_t>(stage)];
  const std::vector<int> patch = image::mirror_permutation(cells, cells),
                         seen = part_mirror(part, mirror_);
  for (const int partner : seen)
    for (const int at : patch)
      symmetry.features.partner.push_back(partner * static_cast<Index>(patch.size()) + at);
  const Index patches = symmetry.features.size();
  symmetry.features.sign.assign(static_cast<std::size_t>(patches), 1);
  const auto flip = [](const std::vector<int>& partners, Index first, SignedPermutation& values) {
    for (const int partner : partners)
      for (Index axis = 0; axis < 2; ++axis) {
        values.partner.push_back(first + 2 * partner + axis);
        values.sign.push_back(axis == 0 ? -1 : 1);
      }
  };
  flip(mirror_, patches, symmetry.features);
  flip(seen, 0, symmetry.deltas);
  return symmetry;
}

Vector<float> FaceProblem::start(const Similarity& similarity) const {
  Vector<float> x(state_size());
  put_state(mean_, similarity, x);
  return x;
}

Vector<float> FaceProblem::target(const Shape& truth) const {
  Vector<float> x(state_size());
  put_state(truth, {}, x);
  return x;
}

}  // namespace sdm::face
