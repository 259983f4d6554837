#pragma once

#include "render/landmarks.h"
#include "render/layout.h"
#include "render/person.h"

namespace sdm::render {

/// A face's reflectances on the layout's canvas, and what became of what was painted.
struct FacePaint {
  Field skin;
  Field beard;  // its coverage, where it stands out from the skin; empty: none
  BrowPoints brows;
};

/// `skin` is a skin's texture on the canvas, about 1 on average; null: none.
FacePaint paint_face(const Layout& layout, const Noise& noise, const Field* skin,
                     const Person& person, Random& random);

/// The eyeball seen along its axis, which ends at radius 1 of a canvas from -1 to 1.
Field paint_eye(const Noise& noise, Random& random);

/// Lashes as strokes across their ribbon; below 0: a gap.
Field paint_lashes(Random& random);

/// Cloth: plain, striped, chequered or flowered.
Field paint_cloth(const Noise& noise, Random& random);

}  // namespace sdm::render
