#pragma once

#include "sdm/base/random.h"
#include "sdm/render/head_model.h"

namespace sdm::render {

/// What of a face is drawn by lot before anything is painted.
struct Person {
  bool female = false;
  float skin = 0.3F;  // reflectance, linear
  float hair = 0.05F;
  bool bald = false, long_hair = false, hat = false;
  float beard = 0;      // 0 none, 1 full
  float thickness = 0;  // of the beard, cm

  static Person random(Random& random);
};

/// Weights of the model's expressions: rest, smiles, laughter, speech, shouts, grimaces; eyes and
/// brows apart.
Vector<float> random_expression(const HeadModel& head, Random& random);

/// How far above the line where the lips meet (below: less than zero) each vertex of the lips is,
/// cm; less and less beyond them.
std::vector<float> lip_heights(const HeadModel& head);

/// Widths, lengths and fullness beyond the model's identities, and thinner lips.
void vary_shape(Points& points, const Points& normals, const std::vector<float>& lips,
                Random& random);

}  // namespace sdm::render
