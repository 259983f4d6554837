#include "sdm/rigid/scan.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sdm/image/resample.h"
#include "sdm/image/warp.h"

namespace sdm::rigid {
namespace {

constexpr double kScanSide = 40;  // px of the template's longer side
constexpr int kScanCell = 5;
constexpr int kLargestScan = 4000;  // px of the frame as it is scanned
constexpr int kApart = 2;           // cells between two places that are not the same

// Of values up to 255, at most 64 cells of 8 in a row: inside 31 bits.
double product(const std::int16_t* a, const std::int16_t* b, int size) {
  std::int32_t sum = 0;
  for (int i = 0; i < size; ++i) sum += std::int32_t(a[i]) * std::int32_t(b[i]);
  return double(sum);
}

/// Where the template lies in scan pixels about its middle, turned by a multiple of 30 degrees, and
/// how many cells it covers.
struct Turned {
  Warp to_scan = Warp::Identity();
  int across = 0, down = 0;

  Turned(const Warp& shown, const TemplateShape& shape, int roll) {
    Warp turn = Warp::Identity();
    turn.topLeftCorner<2, 2>() =
        Eigen::Rotation2Dd(2 * std::numbers::pi * roll / Scanner::kRolls).toRotationMatrix();
    to_scan = compose(turn, shown);
    const Quad corners = shape.corners(to_scan);
    const Eigen::Vector2d size = corners.rowwise().maxCoeff() - corners.rowwise().minCoeff();
    across = static_cast<int>(std::lround(std::min(size.x() / kScanCell, 1e4)));
    down = static_cast<int>(std::lround(std::min(size.y() / kScanCell, 1e4)));
  }
};

}  // namespace

void Scanner::keep(const Place& place) {
  for (Place& other : places_)
    if (std::abs(other.x - place.x) < kApart && std::abs(other.y - place.y) < kApart) {
      if (place.likeness > other.likeness) other = place;
      return;
    }
  if (places_.size() < std::size_t(4 * kMost)) {
    places_.push_back(place);
    return;
  }
  const auto least =
      std::min_element(places_.begin(), places_.end(),
                       [](const Place& a, const Place& b) { return a.likeness < b.likeness; });
  if (place.likeness > least->likeness) *least = place;
}

const std::vector<Warp>& Scanner::operator()(image::ByteView frame, const PixelTemplate& target,
                                             const TemplateShape& shape, const Warp& last,
                                             double zoom) {
  found_.clear();
  places_.clear();
  places_.reserve(4 * kMost);
  found_.reserve(kMost);
  const double scale = scale_of(last);
  if (!(scale > 0)) return found_;

  // The frame in scan pixels: first by a whole factor, then by what is left.
  const double shrink = kScanSide / (kTemplateSide * scale * zoom);
  if (!(std::max(frame.width, frame.height) * shrink <= kLargestScan)) return found_;
  const int width = int(std::lround(frame.width * shrink));
  const int height = int(std::lround(frame.height * shrink));
  if (width < kScanCell || height < kScanCell) return found_;
  const int factor = std::clamp(int(1 / shrink), 1, 256);
  image::ByteView source = frame;
  const int w = frame.width / factor, h = frame.height / factor;
  if (factor > 1) {
    shrunk_.resize(std::size_t(w) * std::size_t(h));
    const image::ImageView<std::uint8_t> smaller(shrunk_.data(), w, h);
    image::shrink(frame, factor, smaller);
    source = smaller;
  }
  view_.resize(std::size_t(width) * std::size_t(height));
  const image::ImageView<std::uint8_t> view(view_.data(), width, height);
  const double left = 1 / (shrink * factor);  // source pixels a scan pixel
  image::AffineMap map;
  map << left, 0, (left - 1) / 2, 0, left, (left - 1) / 2;
  image::warp_affine(source, map, view);
  image::cell_grid(view, kScanCell, 0, frame_cells_);

  // The template as it was seen last, about its middle, in scan pixels.
  Warp middle = Warp::Identity();
  middle.topRightCorner<2, 1>() << -last(0, 2), -last(1, 2);
  Warp shown = compose(middle, last);
  shown.topRows<2>() *= zoom * shrink;
  for (int roll = 0; roll < kRolls; ++roll) {
    const Turned turned(shown, shape, roll);
    const Warp& to_scan = turned.to_scan;
    const int across = turned.across, down = turned.down;
    const int columns = frame_cells_.columns() - across + 1, rows = frame_cells_.rows() - down + 1;
    if (across < 2 || down < 2 || across > 64 || down > 64 || columns < 1 || rows < 1) continue;

    const int side_x = across * kScanCell, side_y = down * kScanCell;
    pixels_.resize(std::size_t(side_x) * std::size_t(side_y));
    const image::ImageView<std::uint8_t> picture(pixels_.data(), side_x, side_y);
    Warp centre = Warp::Identity();
    centre.topRightCorner<2, 1>() << -(side_x - 1) / 2.0, -(side_y - 1) / 2.0;
    const Warp back =
        compose(inverse(target.canvas.to_template()), compose(inverse(to_scan), centre));
    if (!back.allFinite()) continue;
    values_.resize(pixels_.size());
    const image::ImageView<float> values(values_.data(), side_x, side_y);
    image::warp_projective(
        image::FloatView(target.pixels.data(), target.canvas.width, target.canvas.height), back,
        values);
    for (std::size_t i = 0; i < pixels_.size(); ++i)
      pixels_[i] = static_cast<std::uint8_t>(std::clamp(values_[i], 0.F, 255.F) + 0.5F);
    image::cell_grid(picture, kScanCell, 0, template_cells_);

    // Cells outside the template do not count; those inside without their mean, so that a place
    // does not win by its contrast alone.
    const int row_size = across * image::kBins;
    kernel_.assign(std::size_t(row_size) * std::size_t(down), 0);
    const auto inside = [&](int x, int y) {
      const Eigen::Vector2d at = apply(compose(inverse(to_scan), centre),
                                       {(x + 0.5) * kScanCell - 0.5, (y + 0.5) * kScanCell - 0.5});
      return std::abs(at.x()) < shape.width / 2 && std::abs(at.y()) < shape.height / 2;
    };
    double sum = 0, count = 0;
    for (const bool fill : {false, true}) {
      for (int y = 0; y < down; ++y)
        for (int x = 0; x < across; ++x) {
          if (!inside(x, y)) continue;
          for (int b = 0; b < image::kBins; ++b) {
            const double value = template_cells_.at(x, y)[b];
            if (!fill) {
              sum += value;
              ++count;
            } else {
              kernel_[std::size_t(y * row_size + x * image::kBins + b)] =
                  static_cast<std::int16_t>(std::lround(value - sum / count));
            }
          }
        }
      if (count == 0) break;
    }
    double norm = 1;
    for (const std::int16_t value : kernel_) norm += double(value) * double(value);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        double likeness = 0, energy = 1;
        for (int r = 0; r < down; ++r) {
          const std::int16_t* seen = frame_cells_.at(x, y + r);
          likeness += product(seen, kernel_.data() + r * row_size, row_size);
          energy += product(seen, seen, row_size);
        }
        keep({float(likeness / std::sqrt(norm * energy)), x, y, roll});
      }
  }

  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return a.likeness > b.likeness; });
  if (places_.size() > std::size_t(kMost)) places_.resize(kMost);
  for (const Place& place : places_) {
    const Turned turned(shown, shape, place.roll);
    // The middle of the matched cells, in scan and then in frame pixels.
    const double x = (place.x + turned.across / 2.0) * kScanCell - 0.5;
    const double y = (place.y + turned.down / 2.0) * kScanCell - 0.5;
    Warp to_frame = turned.to_scan;
    to_frame.topRows<2>() /= shrink;
    Warp shift = Warp::Identity();
    shift.topRightCorner<2, 1>() << (x + 0.5) / shrink - 0.5, (y + 0.5) / shrink - 0.5;
    found_.push_back(compose(shift, to_frame));
  }
  return found_;
}

}  // namespace sdm::rigid
