#pragma once

#include "sdm/base/random.h"
#include "sdm/face/model.h"
#include "sdm/image/image_view.h"

namespace sdm::face {

/// Throws Error naming what is wrong with a picture and the true points of a face in it.
void check_labelled_face(const Model& model, image::ByteView grey, const Shape& truth);

/// Where the detector might have seen a face with these true points: upright.
Similarity detected_start(const Shape& truth, const Shape& mean, const BoxConvention& convention,
                          Random& random);

/// Where the face might have been in the frame before (section "Facial feature tracking").
Similarity tracked_start(const Shape& truth, const Shape& mean, Random& random);

/// One of several starts of a face: even numbers as a detector would, odd ones as a tracker.
Similarity labelled_start(int number, const Shape& truth, const Model& model, Random& random);

}  // namespace sdm::face
