#include "image/checks.h"

#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/image/cell_grid.h"

namespace sdm::image {
namespace {

void check_epsilon(float epsilon) {
  if (!(epsilon > 0) || !std::isfinite(epsilon)) {
    throw Error(formatted("HoG epsilon is {}, expected a number above 0", epsilon));
  }
}

void check_output(std::size_t out, std::size_t expected) {
  if (out != expected) {
    throw Error(formatted("HoG output has room for {} values, expected {}", out, expected));
  }
}

}  // namespace

void HogOptions::validate() const {
  if (cells < 1 || cells > kMaxCells) {
    throw Error(formatted("HoG cells a side are {}, expected 1 to {}", cells, kMaxCells));
  }
  if (!(cell >= 0.5f && float(cells) * cell <= float(kMaxPatch))) {
    throw Error(formatted("HoG cell is {} px, expected 0.5 to {}, a patch of {} px", cell,
                          float(kMaxPatch) / float(cells), kMaxPatch));
  }
  check_epsilon(epsilon);
}

void DenseHogOptions::validate() const {
  if (cell < 1 || cell > kMaxCell) {
    throw Error(formatted("HoG cell is {} px, expected 1 to {}", cell, kMaxCell));
  }
  if (radius < 0 || radius > kMaxRadius) {
    throw Error(formatted("HoG block radius is {}, expected 0 to {}", radius, kMaxRadius));
  }
  check_epsilon(epsilon);
}

namespace checks {

void same_size(int src_width, int src_height, int dst_width, int dst_height) {
  if (src_width != dst_width || src_height != dst_height) {
    throw Error(formatted("output picture is {} x {}, expected {} x {} as the input", dst_width,
                          dst_height, src_width, src_height));
  }
}

void source(int width, int height) {
  if (width <= 0 || height <= 0) {
    throw Error(formatted("picture is {} x {}, expected at least 1 x 1", width, height));
  }
}

void map(std::span<const double> entries) {
  for (double entry : entries) {
    if (!std::isfinite(entry)) {
      throw Error(formatted("warp has an entry {}, expected finite numbers", entry));
    }
  }
}

void shrink(ByteView src, int factor, ImageView<std::uint8_t> dst) {
  if (factor < 1 || factor > 256) {
    throw Error(formatted("shrink factor is {}, expected 1 to 256", factor));
  }
  if (dst.width != src.width / factor || dst.height != src.height / factor) {
    throw Error(formatted("output picture is {} x {}, expected {} x {}, the input's {} x {} / {}",
                          dst.width, dst.height, src.width / factor, src.height / factor, src.width,
                          src.height, factor));
  }
}

void hog(const GradientChannels& channels, Eigen::Index points, const HogOptions& options,
         std::size_t out) {
  options.validate();
  if (channels.width() < 1) throw Error("HoG of gradient channels that were never filled");
  check_output(out, std::size_t(points) * std::size_t(options.size()));
}

void cell_grid(ByteView src, int cell, int margin) {
  source(src.width, src.height);
  if (cell < 2 || cell > CellGrid::kMaxCell) {
    throw Error(formatted("cells are {} px, expected 2 to {}", cell, CellGrid::kMaxCell));
  }
  if (margin < 0 || margin > CellGrid::kMaxMargin) {
    throw Error(
        formatted("the margin is {} cells, expected 0 to {}", margin, CellGrid::kMaxMargin));
  }
}

void dense_hog(int width, int height, const DenseHogOptions& options, std::size_t out) {
  options.validate();
  const int columns = options.columns(width), rows = options.rows(height);
  constexpr int most = DenseHogOptions::kMaxCells;
  if (columns < 1 || rows < 1 || columns > most || rows > most) {
    throw Error(
        formatted("dense HoG of a {} x {} picture has {} x {} cells, expected 1 to {} a side",
                  width, height, columns, rows, most));
  }
  check_output(out, std::size_t(options.size(width, height)));
}

}  // namespace checks
}  // namespace sdm::image
