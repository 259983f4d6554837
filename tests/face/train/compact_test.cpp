#include "face/train/compact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "face/folding.h"
#include "sdm/base/error.h"
#include "sdm/image/hog.h"
#include "tests/face/drawn_faces.h"
#include "tests/linear/random.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr Index kCompactPoints = 9, kCompactDeltas = 2 * kCompactPoints;

// Where a value comes from when the face is seen in a mirror, and its sign there.
struct Mirrored {
  std::vector<Index> from;
  std::vector<float> sign;

  std::size_t size() const { return from.size(); }
};

Mirrored mirrored_deltas() {
  Mirrored result;
  for (const int partner : drawn_mirror())
    for (const int axis : {0, 1}) {
      result.from.push_back(2 * partner + axis);
      result.sign.push_back(axis == 0 ? -1.0F : 1.0F);
    }
  return result;
}

// Patches by the image room's own permutation, then the shape, which flips as the steps do.
Mirrored mirrored_features(int cells) {
  Mirrored result;
  const std::vector<int> patch = image::mirror_permutation(cells, cells);
  for (const int partner : drawn_mirror())
    for (const int at : patch) {
      result.from.push_back(partner * static_cast<Index>(patch.size()) + at);
      result.sign.push_back(1);
    }
  const auto patches = static_cast<Index>(result.size());
  const Mirrored shape = mirrored_deltas();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    result.from.push_back(patches + shape.from[i]);
    result.sign.push_back(shape.sign[i]);
  }
  return result;
}

// Its even part: the same map for a face and its mirror image.
Matrix<float> symmetric_part(const Matrix<float>& r, const Mirrored& rows,
                             const Mirrored& columns) {
  Matrix<float> result = r;
  for (Index i = 0; i < r.rows(); ++i)
    for (Index j = 0; j < r.cols(); ++j) {
      const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
      result(i, j) += rows.sign[a] * columns.sign[b] * r(rows.from[a], columns.from[b]);
    }
  return result / 2;
}

// Compares a map with its compact form, run as CompactMap tells, on random features. Rounding a
// column of scale s to whole numbers moves each of its weights by s / 2 at most.
void expect_the_same_deltas(const DescentMap<float>& map, int cells,
                            const std::vector<int>& mirror) {
  const CompactMap narrow = compact(map, kCompactPoints, StageRecipe{.cells = cells}, mirror);
  const Folding folding(kCompactPoints, cells, mirror);
  const Matrix<double> values = io::to_matrix<double>(narrow.values),
                       scale = io::to_matrix<double>(narrow.scale);
  ASSERT_EQ(values.rows(), folding.size());
  ASSERT_EQ(values.cols(), narrow.rank());
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Vector<float> f = random_vector<float>(map.feature_size(), 100 + seed);
    Vector<float> sums(folding.size()), differences(folding.size());
    const auto size = static_cast<std::size_t>(folding.size());
    scalar::fold(folding, {f.data(), static_cast<std::size_t>(folding.features())},
                 {sums.data(), size}, {differences.data(), size});
    Vector<double> inner(narrow.rank()), rounding(narrow.rank());
    for (Index k = 0; k < narrow.rank(); ++k) {
      const Vector<double> seen = (k < narrow.even ? sums : differences).cast<double>();
      inner[k] =
          scale(0, k) * values.col(k).dot(seen) + narrow.shape.row(k).dot(f.tail(kCompactDeltas));
      rounding[k] = scale(0, k) / 2 * seen.lpNorm<1>();
    }
    const Matrix<double> left = narrow.left.cast<double>();
    const Vector<double> whole = (map.bias() - map.matrix() * f).cast<double>(),
                         got = narrow.bias.cast<double>() - left * inner,
                         bound = left.cwiseAbs() * rounding;
    EXPECT_LT(bound.norm(), 0.5 * whole.norm());  // else it would prove nothing
    for (Index i = 0; i < whole.size(); ++i) EXPECT_NEAR(got[i], whole[i], bound[i] + 1e-4) << i;
  }
}

Index features_of(int cells) { return kCompactPoints * cells * cells * 8 + kCompactDeltas; }

TEST(ACompactMap, MovesAsTheWholeSymmetricMapDoes) {
  for (const int cells : {1, 2, 3}) {
    const Matrix<float> r =
        symmetric_part(random_matrix<float>(kCompactDeltas, features_of(cells), 1),
                       mirrored_deltas(), mirrored_features(cells));
    const DescentMap<float> map(r, random_vector<float>(kCompactDeltas, 2));
    expect_the_same_deltas(map, cells, drawn_mirror());
    // Of every pair of mirrored values it stores one.
    EXPECT_LT(
        compact(map, kCompactPoints, StageRecipe{.cells = cells}, drawn_mirror()).values.shape()[0],
        static_cast<std::size_t>(r.cols() / 2 + kFoldedLanes));
  }
}

TEST(ACompactMap, MovesAsAMapOfLowRankDoes) {
  const int cells = 2;
  const Mirrored columns = mirrored_features(cells);
  Matrix<float> right = random_matrix<float>(5, features_of(cells), 3);
  // Sums and differences in turns, so that they must be sorted.
  const Mirrored rows{{0, 1, 2, 3, 4}, {-1, 1, -1, 1, 1}};
  right = symmetric_part(right, rows, columns);
  expect_the_same_deltas(DescentMap<float>(random_matrix<float>(kCompactDeltas, 5, 4), right,
                                           random_vector<float>(kCompactDeltas, 5)),
                         cells, drawn_mirror());
}

TEST(ACompactMap, NeedsNoMirror) {
  expect_the_same_deltas(DescentMap<float>(random_matrix<float>(kCompactDeltas, features_of(2), 6),
                                           random_vector<float>(kCompactDeltas, 7)),
                         2, {});
}

TEST(ACompactMap, IsRefusedWhereTheMapDoesNotTreatBothSidesAlikeOrHasAnotherSize) {
  const DescentMap<float> map(random_matrix<float>(kCompactDeltas, features_of(2), 8),
                              random_vector<float>(kCompactDeltas, 9));
  EXPECT_THAT([&] { compact(map, kCompactPoints, StageRecipe{.cells = 2}, drawn_mirror()); },
              ThrowsMessage<Error>(HasSubstr("does not treat both sides alike")));
  EXPECT_THAT([&] { compact(map, kCompactPoints, StageRecipe{.cells = 3}, {}); },
              ThrowsMessage<Error>(HasSubstr("a map of 306 features to 18 values")));
}

}  // namespace
}  // namespace sdm::face
