#pragma once

#include <vector>

#include "face/canvas.h"
#include "face/folding.h"
#include "sdm/face/model.h"

namespace sdm::face {

/// The way of a shape through the stages of a model: what each stage sees, without what its map
/// makes of it. Aligning moves the shape by the map; adapting compares with the truth first.
/// Allocates nothing after construction. The model must outlive it.
class Walk {
 public:
  explicit Walk(const Model& model);

  /// The mean shape placed by a frame. The picture must stay until the last stage. Where the recipe
  /// asks for a new canvas, the old one will do while the face has moved on it by less than `still`
  /// units. Throws Error on an empty picture and on a frame that is not finite or has no size.
  void start(image::ByteView grey, const Frame& frame, float still = 0);

  /// What a stage sees at the shape, in the small space of its map: z = scale * (values^T f) +
  /// shape s, of the map's rank. Fits the frame and draws the face anew where the recipe says so.
  Eigen::Ref<const Vector<float>> see(std::size_t stage);

  void move(const Vector<float>& delta);

  /// Through all stages by the model's maps. Gives the mean distance of the last step, in units.
  float descend();

  /// What the confidence looks at: the patches of the last stage at the shape as it is now, on
  /// whole pixels, sums of both sides where there is a mirror.
  Eigen::Ref<const Vector<float>> patch_sums();
  Index patch_sums_size() const { return foldings_.back().size(); }

  const Shape& shape() const { return shape_; }  // in face coordinates
  const Frame& frame() const { return frame_; }

 private:
  void place(std::size_t stage);
  bool is_still(const Frame& next) const;

  const Model* model_;
  Canvas canvas_;
  std::vector<Folding> foldings_;
  image::ByteView grey_;
  Frame frame_;
  float still_ = 0;
  bool drawn_ = false;
  Shape shape_, pixels_;
  std::vector<float> patches_, sums_, differences_;
  std::vector<std::int16_t> narrow_;
  Vector<float> small_, offset_, delta_;
};

}  // namespace sdm::face
