#include "sdm/face/adapter.h"

#include "base/formatted.h"
#include "face/lesson.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

// What adaptation changes, as a cascade on z.
Cascade<double> small_cascade(const Model& model) {
  Cascade<double> cascade;
  for (const CompactMap& map : model.maps)
    cascade.maps.emplace_back(map.left.cast<double>(), map.bias.cast<double>());
  return cascade;
}

}  // namespace

void AdapterOptions::validate() const {
  OnlineOptions{weight, forgetting}.validate();
  if (starts < 1 || starts > 1000)
    throw Error(formatted("{} starts in a frame, expected 1 to 1000", starts));
}

Adapter::Adapter(Model model, Adaptation state)
    : model_((model.validate(), state.require_fits(model), std::move(model))),
      online_(small_cascade(model_), std::move(state.inverse_covariances)) {}

void Adapter::update(image::ByteView grey, const Shape& truth, const AdapterOptions& options) {
  options.validate();
  Lesson lesson(model_);
  lesson.require_face(grey, truth);
  OnlineCascade<double> online = online_;
  Noise noise(options.seed);
  Vector<double> delta(2 * model_.points()), scratch(0);
  for (int start = 0; start < options.starts; ++start) {
    // A frame is one step of time, however many starts it gives.
    const OnlineOptions step{options.weight, start == 0 ? options.forgetting : 1};
    lesson.start(grey, truth, start, noise);
    for (std::size_t k = 0; k < model_.maps.size(); ++k) {
      const Vector<double> z = lesson.see(k).cast<double>();
      online.cascade().maps[k].apply(z, scratch, delta);
      // A point that is not known is where the model says: there is nothing to learn from it.
      for (Index i = 0; i < delta.size(); ++i)
        if (const float missing = lesson.missing()[i]; std::isfinite(missing))
          delta[i] = static_cast<double>(missing);
      online.update_stage(static_cast<int>(k), z, delta, step);
      online.cascade().maps[k].apply(z, scratch, delta);
      lesson.move(delta.cast<float>());
    }
  }
  Model adapted = model_;
  for (std::size_t k = 0; k < adapted.maps.size(); ++k) {
    adapted.maps[k].left = online.cascade().maps[k].matrix().cast<float>();
    adapted.maps[k].bias = online.cascade().maps[k].bias().cast<float>();
  }
  adapted.validate();
  model_ = std::move(adapted);
  online_ = std::move(online);
}

Adaptation Adapter::state() const {
  return {online_.inverse_covariances(), fingerprint(model_), model_.name, model_.provenance,
          model_.licence};
}

}  // namespace sdm::face
