#pragma once

#include <memory>

#include "sdm/face/model.h"
#include "sdm/image/image_view.h"

namespace sdm::face {

struct Alignment {
  Shape points;  // in pixels of the picture
  /// The probability that the points lie on a face (confidence.h), times the mean probability of a
  /// point to be seen where the model knows that: what looks like a face as a whole and nowhere in
  /// particular is none. A model without a confidence tells how settled the points are instead: 1
  /// as on faces, towards 0 something else.
  float score = 0;
  /// Of each point, the probability that it is seen and right (visibility.h). Empty where the model
  /// has not learned it.
  Vector<float> visible;
};

/// Finds the landmarks of a face in a grey picture, given a box around it.
///
/// One aligner a thread; it allocates nothing after construction, so its results are overwritten by
/// the next call. Any number of aligners may share a model, which must outlive them.
class Aligner {
 public:
  explicit Aligner(const Model& model);
  ~Aligner();
  Aligner(Aligner&&) noexcept;
  Aligner& operator=(Aligner&&) noexcept;

  /// From a detector's box, by the model's default convention or another of its own. A fit that the
  /// score doubts is tried again from up to 16 places around the box, until it does not, and the
  /// best one is given: a box that lies badly costs time, not the answer. Throws Error on an empty
  /// picture and on a box that is not finite or has no size.
  const Alignment& align(image::ByteView grey, const Box& box);
  const Alignment& align(image::ByteView grey, const Box& box, const BoxConvention& convention);
  /// From the mean shape placed by a similarity: upright or not.
  const Alignment& align_from(image::ByteView grey, const Similarity& start);
  /// The same for a start that is nearly right already, as that of a moment ago in a video: the
  /// face is drawn anew only if it has moved, which saves up to a third of the time.
  const Alignment& follow(image::ByteView grey, const Similarity& start);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sdm::face
