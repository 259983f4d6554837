#include "face/train/compact.h"

#include "base/formatted.h"
#include "face/folding.h"
#include "face/mirror.h"
#include "sdm/base/error.h"
#include "sdm/linear/symmetry.h"

namespace sdm::face {
namespace {

void require(bool good, const std::string& message) {
  if (!good) throw Error(message);
}

}  // namespace

CompactMap compact(const DescentMap<float>& map, Index points, const StageRecipe& stage,
                   const std::vector<int>& mirror) {
  const Index shapes = 2 * points, deltas = 2 * stage.count(points);
  const Folding folding(stage, points, mirror);
  require(map.delta_size() == shapes && map.feature_size() == folding.features() + shapes,
          formatted("a map of {} features to {} values, expected {} to {}", map.feature_size(),
                    map.delta_size(), folding.features() + shapes, shapes));
  // Rows of the points that the stage moves.
  const auto moved = [&](const Matrix<float>& rows) {
    if (stage.points.empty()) return rows;
    Matrix<float> kept(deltas, rows.cols());
    for (std::size_t p = 0; p < stage.points.size(); ++p)
      kept.middleRows<2>(2 * static_cast<Index>(p)) = rows.middleRows<2>(2 * stage.points[p]);
    return kept;
  };
  Matrix<float> left, right;
  if (map.rank() > 0) {
    left = moved(map.left());
    right = map.right();
  } else if (mirror.empty()) {
    left = Matrix<float>::Identity(deltas, deltas);
    right = moved(map.right());
  } else {
    // A whole map has rows of both kinds; in the basis of the mirror each has one.
    SignedPermutation flip;
    for (const int partner : part_mirror(stage.points, mirror))
      for (Index axis = 0; axis < 2; ++axis) {
        flip.partner.push_back(2 * partner + axis);
        flip.sign.push_back(axis == 0 ? -1 : 1);
      }
    const Matrix<float> identity = Matrix<float>::Identity(deltas, deltas);
    Matrix<float> basis(deltas, deltas);
    MirrorBasis(flip).forward<float>(identity, basis);
    left = basis.transpose();
    right = basis * moved(map.right());
  }

  const Index rank = right.rows();
  std::vector<Index> even, odd;
  for (Index r = 0; r < rank; ++r) {
    const Vector<float> row = right.row(r).head(folding.features());
    const std::span<const float> values(row.data(), static_cast<std::size_t>(row.size()));
    const bool is_even = mirror.empty() || folding.asymmetry(values, 1) < 0.5;
    require(mirror.empty() || folding.asymmetry(values, is_even ? 1 : -1) < 1e-3,
            formatted("row {} of the map does not treat both sides alike", r));
    (is_even ? even : odd).push_back(r);
  }
  CompactMap narrow;
  narrow.even = static_cast<Index>(even.size());
  narrow.shape.resize(rank, shapes);
  narrow.left.resize(deltas, rank);
  narrow.bias = moved(map.bias());
  Matrix<float> folded(folding.size(), rank);
  even.insert(even.end(), odd.begin(), odd.end());
  for (Index k = 0; k < rank; ++k) {
    const Index r = even[static_cast<std::size_t>(k)];
    const Vector<float> row = right.row(r).head(folding.features());
    folding.fold_weights({row.data(), static_cast<std::size_t>(row.size())},
                         k < narrow.even ? 1 : -1,
                         {folded.col(k).data(), static_cast<std::size_t>(folded.rows())});
    narrow.shape.row(k) = right.row(r).tail(shapes);
    narrow.left.col(k) = left.col(r);
  }
  const io::Quantized quantized = io::quantize(io::to_tensor(folded), io::ScalePer::column);
  narrow.values = quantized.values;
  narrow.scale = quantized.scale;
  return narrow;
}

}  // namespace sdm::face
