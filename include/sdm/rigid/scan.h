#pragma once

#include <cstdint>
#include <vector>

#include "sdm/image/cell_grid.h"
#include "sdm/image/image_view.h"
#include "sdm/rigid/polish.h"
#include "sdm/rigid/region.h"

namespace sdm::rigid {

/// Looks for a template in a whole frame: the frame's gradient cells (image/cell_grid.h), shrunk so
/// that the template measures 40 px, are correlated with those of the template, seen as it was last
/// and turned in steps of 30 degrees.
///
/// One object serves one thread. It grows to the largest frame it has seen and then allocates
/// nothing.
class Scanner {
 public:
  static constexpr int kRolls = 12;
  static constexpr int kMost = 8;  ///< places that it gives

  /// The places that look most like it, best first, for the maps to start from. `last` is where the
  /// template was last; it is looked for `zoom` times as large.
  const std::vector<Warp>& operator()(image::ByteView frame, const PixelTemplate& target,
                                      const TemplateShape& shape, const Warp& last, double zoom);

 private:
  struct Place {
    float likeness = 0;
    int x = 0, y = 0, roll = 0;  // first cell
  };
  void keep(const Place& place);

  std::vector<std::uint8_t> shrunk_, pixels_, view_;
  std::vector<float> values_;
  image::CellGrid frame_cells_, template_cells_;
  std::vector<std::int16_t> kernel_;
  std::vector<Place> places_;
  std::vector<Warp> found_;
};

}  // namespace sdm::rigid
