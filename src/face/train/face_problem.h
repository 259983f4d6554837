#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "face/canvas.h"
#include "face/shape_state.h"
#include "sdm/descent/train/train.h"
#include "sdm/face/train/trainer.h"

namespace sdm::face {

/// Landmark detection as the general trainer sees it: the states of shape_state.h.
class FaceProblem {
 public:
  using Scalar = float;

  FaceProblem(const std::vector<TrainingFace>& faces, const Recipe& recipe, const Shape& mean,
              const std::vector<int>& mirror, std::vector<Index> face_of_sample,
              Index first_face = 0);

  Index samples() const { return static_cast<Index>(face_of_sample_.size()); }
  Index points() const { return mean_.cols(); }
  Index state_size() const { return shape_state_size(points()); }
  Index delta_size() const { return 2 * points(); }
  Index feature_size(int stage) const;
  bool template_known() const { return false; }
  /// From now on; as many as before.
  void look_at(const std::vector<TrainingFace>& faces) { faces_ = &faces; }
  Index face(Index sample) const { return face_of_sample_[static_cast<std::size_t>(sample)]; }
  /// Pictures of one group are held out together.
  Index group(Index sample) const;
  double weight(Index sample) const { return of(sample).weight; }

  void features(Index sample, int stage, ConstVectorRef<float> x, VectorRef<float> out) const;
  void difference(ConstVectorRef<float> x, ConstVectorRef<float> target,
                  VectorRef<float> out) const;
  void step(int stage, ConstVectorRef<float> x, ConstVectorRef<float> delta,
            VectorRef<float> out) const;
  /// The mean distance of the points that are known, in units.
  double error(Index sample, ConstVectorRef<float> delta) const;
  /// The last ones the trainer asked for.
  const std::vector<double>& errors() const { return errors_; }
  std::vector<Index> moved(int stage) const { return moved_values(recipe_, stage); }
  Symmetry symmetry(int stage) const;

  /// Told by the trainer of each map.
  void learned(int stage, const DescentMap<float>& map) const {
    if (on_learned) on_learned(stage, map);
  }
  std::function<void(int, const DescentMap<float>&)> on_learned;

  /// New faces in place of the last ones, where the trainer has any.
  bool renew(int stage, const std::vector<DescentMap<float>>& maps, Matrix<float>& states,
             Matrix<float>& targets) const {
    return on_renew && (on_renew(stage, maps, states, targets), true);
  }
  std::function<void(int, const std::vector<DescentMap<float>>&, Matrix<float>&, Matrix<float>&)>
      on_renew;

  /// The mean shape in a similarity; true points as a target, whose similarity is the picture's.
  Vector<float> start(const Similarity& similarity) const;
  Vector<float> target(const Shape& truth) const;

 private:
  const TrainingFace& of(Index sample) const {
    return (*faces_)[static_cast<std::size_t>(face(sample))];
  }

  const std::vector<TrainingFace>* faces_;
  const Recipe& recipe_;
  const Shape& mean_;
  const std::vector<int>& mirror_;
  std::vector<Index> face_of_sample_;
  Index first_face_;  // its number across all ranks
  mutable std::vector<double> errors_;
  // Canvases that no thread is using.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Canvas>> idle_;
};

}  // namespace sdm::face
