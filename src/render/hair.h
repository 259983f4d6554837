#pragma once

#include "render/person.h"
#include "render/scene.h"

namespace sdm::render {

/// Hair, or a hat: a shell about the head, cut out by its texture (below 0: nothing).
struct Shell {
  Piece mesh;
  Field texture;
};

/// `head` is the shape without neck and insides, in centimetres.
Shell grow_hair(const Points& head, const Person& person, const Noise& noise, Random& random);
Shell put_on_hat(const Points& head, const Noise& noise, Random& random);

}  // namespace sdm::render
