#include "sdm/face/adapter.h"

#include "base/formatted.h"
#include "face/shape_descent.h"
#include "face/starts.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

// What adaptation changes: the maps on z, in the precision that recursive updates need.
Cascade<double> wide_maps(const Model& model) {
  Cascade<double> wide;
  const Cascade<float> narrow = small_maps(model);
  wide.state_size = narrow.state_size;
  wide.template_known = narrow.template_known;
  for (const DescentMap<float>& map : narrow.maps)
    wide.maps.emplace_back(map.matrix().cast<double>(), map.bias().cast<double>());
  return wide;
}

// One frame as online SDM sees it. The face itself is looked at in single precision, as when the
// adapted model will run.
class FrameProblem {
 public:
  using Scalar = double;

  FrameProblem(const Model& model, StageFeatures& features) : model_(model), features_(features) {}

  Index samples() const { return 1; }
  Index state_size() const { return shape_state_size(model_.points()); }
  Index delta_size() const { return 2 * model_.points(); }
  Index feature_size(int stage) const {
    return model_.maps[static_cast<std::size_t>(stage)].rank();
  }
  bool template_known() const { return false; }
  std::vector<Index> moved(int stage) const { return moved_values(model_.recipe, stage); }
  void features(Index /*sample*/, int stage, ConstVectorRef<double> x,
                VectorRef<double> out) const {
    Vector<float> z(out.size());
    features_(stage, x.cast<float>(), z);
    out = z.cast<double>();
  }
  // The target's similarity is the identity: its points are pixels.
  void difference(ConstVectorRef<double> x, ConstVectorRef<double> target,
                  VectorRef<double> out) const {
    Vector<float> delta(out.size());
    const Vector<float> truth = target.cast<float>();
    shape_difference(x.cast<float>(), shape_of(truth), delta);
    out = delta.cast<double>();
  }
  void step(int stage, ConstVectorRef<double> x, ConstVectorRef<double> delta,
            VectorRef<double> out) const {
    Vector<float> next(out.size());
    shape_step(model_.recipe, model_.mean, stage, x.cast<float>(), delta.cast<float>(), next);
    out = next.cast<double>();
  }

 private:
  const Model& model_;
  StageFeatures& features_;
};

}  // namespace

void AdapterOptions::validate() const {
  OnlineOptions{weight, forgetting}.validate();
  if (starts < 1 || starts > 1000)
    throw Error(formatted("{} starts in a frame, expected 1 to 1000", starts));
}

Adapter::Adapter(Model model, Adaptation state)
    : model_((model.validate(), state.require_fits(model), std::move(model))),
      online_(wide_maps(model_), std::move(state.inverse_covariances)),
      frames_(state.frames) {}

void Adapter::update(image::ByteView grey, const Shape& truth, const AdapterOptions& options) {
  options.validate();
  check_labelled_face(model_, grey, truth);
  StageFeatures features(model_);
  features.start(grey);
  const FrameProblem problem(model_, features);
  OnlineCascade<double> online = online_;
  Random random(options.seed, "adapter starts", frames_);
  Vector<float> start(problem.state_size()), target(problem.state_size());
  // The maps know nothing of the labels' own offset.
  const Eigen::Vector2f offset = fit_similarity(model_.mean, truth).turned(model_.label_offset);
  put_state(truth.colwise() - offset, {}, target);
  for (int number = 0; number < options.starts; ++number) {
    put_state(model_.mean, labelled_start(number, truth, model_, random), start);
    // A frame is one step of time, however many starts it gives.
    online.update(problem, 0, start.cast<double>(), target.cast<double>(),
                  {options.weight, number == 0 ? options.forgetting : 1});
  }
  Model adapted = model_;
  for (std::size_t k = 0; k < adapted.maps.size(); ++k) {
    const Matrix<float> left = online.cascade().maps[k].matrix().cast<float>();
    const Vector<float> bias = online.cascade().maps[k].bias().cast<float>();
    const std::vector<Index> moved = moved_values(adapted.recipe, static_cast<int>(k));
    adapted.maps[k].left = moved.empty() ? left : left(moved, Eigen::all).eval();
    adapted.maps[k].bias = moved.empty() ? bias : bias(moved).eval();
  }
  adapted.validate();
  // On from the maps that a file would hold: features are rounded to whole steps, so that a last
  // digit may make a difference.
  online_ = {wide_maps(adapted), online.memory()};
  model_ = std::move(adapted);
  ++frames_;
}

Adaptation Adapter::state() const {
  return {online_.inverse_covariances(),
          fingerprint(model_),
          model_.name,
          model_.provenance,
          model_.licence,
          frames_};
}

}  // namespace sdm::face
