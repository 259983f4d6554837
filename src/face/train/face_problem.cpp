#include "face/train/face_problem.h"

#include "sdm/image/hog.h"

namespace sdm::face {
namespace {

Frame frame_of(ConstVectorRef<float> x) {
  const auto f = x.segment<4>(x.size() - 5);
  return {f[0], f[1], f[2], f[3]};
}

void put_frame(const Frame& frame, VectorRef<float> x) {
  x.segment<4>(x.size() - 5) << frame.a, frame.b, frame.x, frame.y;
}

Eigen::Map<const Shape> shape_of(ConstVectorRef<float> x) {
  return {x.data(), 2, (x.size() - 5) / 2};
}

}  // namespace

FaceProblem::FaceProblem(const std::vector<TrainingFace>& faces, const Recipe& recipe,
                         const Shape& mean, const std::vector<int>& mirror,
                         std::vector<Index> face_of_sample)
    : faces_(faces),
      recipe_(recipe),
      mean_(mean),
      mirror_(mirror),
      face_of_sample_(std::move(face_of_sample)) {}

Index FaceProblem::feature_size(int stage) const {
  return points() * recipe_.hog(stage).size() + 2 * points();
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
  canvas->draw(faces_[static_cast<std::size_t>(group(sample))].picture, frame_of(x));
  canvas->describe(stage, shape_of(x), {out.data(), static_cast<std::size_t>(patches)});
  Eigen::Map<Shape>(out.data() + patches, 2, points()) =
      recipe_.shape_weight * (shape_of(x) - mean_);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(canvas));
}

void FaceProblem::difference(ConstVectorRef<float> x, ConstVectorRef<float> target,
                             VectorRef<float> out) const {
  Shape pixels(2, points());
  frame_of(target).to_image(shape_of(target), pixels);
  Eigen::Map<Shape> delta(out.data(), 2, points());
  frame_of(x).to_face(pixels, delta);
  delta -= shape_of(x);
}

void FaceProblem::step(ConstVectorRef<float> x, ConstVectorRef<float> delta,
                       VectorRef<float> out) const {
  const Frame frame = frame_of(x);
  const int stage = static_cast<int>(x[x.size() - 1]) + 1;
  Shape shape = shape_of(x) + Eigen::Map<const Shape>(delta.data(), 2, points());
  Frame next = frame;
  if (stage < static_cast<int>(recipe_.stages.size()) &&
      recipe_.stages[static_cast<std::size_t>(stage)].redraw) {
    Shape pixels(2, points());
    frame.to_image(shape, pixels);
    const Frame fitted = fit_frame(mean_, pixels);
    if (fitted.scale() > 1e-3F * frame.scale()) {
      next = fitted;
      next.to_face(pixels, shape);
    }
  }
  out.head(2 * points()) = Eigen::Map<const Vector<float>>(shape.data(), shape.size());
  put_frame(next, out);
  out[out.size() - 1] = static_cast<float>(stage);
}

double FaceProblem::error(Index /*sample*/, ConstVectorRef<float> delta) const {
  return static_cast<double>(
      Eigen::Map<const Shape>(delta.data(), 2, points()).colwise().norm().mean());
}

Symmetry FaceProblem::symmetry(int stage) const {
  if (mirror_.empty()) return {};
  Symmetry symmetry;
  const int cells = recipe_.stages[static_cast<std::size_t>(stage)].cells;
  const std::vector<int> patch = image::mirror_permutation(cells, cells);
  for (const int partner : mirror_)
    for (const int at : patch)
      symmetry.features.partner.push_back(partner * static_cast<Index>(patch.size()) + at);
  const Index patches = symmetry.features.size();
  symmetry.features.sign.assign(static_cast<std::size_t>(patches), 1);
  for (const int partner : mirror_)
    for (Index axis = 0; axis < 2; ++axis) {
      const signed char sign = axis == 0 ? -1 : 1;
      symmetry.deltas.partner.push_back(2 * partner + axis);
      symmetry.deltas.sign.push_back(sign);
      symmetry.features.partner.push_back(patches + 2 * partner + axis);
      symmetry.features.sign.push_back(sign);
    }
  return symmetry;
}

Vector<float> FaceProblem::start(const Frame& frame) const {
  Vector<float> x(state_size());
  x.head(2 * points()) = Eigen::Map<const Vector<float>>(mean_.data(), mean_.size());
  put_frame(frame, x);
  x[x.size() - 1] = 0;
  return x;
}

Vector<float> FaceProblem::target(const Shape& truth) const {
  Vector<float> x(state_size());
  x.head(2 * points()) = Eigen::Map<const Vector<float>>(truth.data(), truth.size());
  put_frame({}, x);
  x[x.size() - 1] = 0;
  return x;
}

}  // namespace sdm::face
