#pragma once

#include <vector>

#include "sdm/base/types.h"
#include "sdm/io/model.h"

namespace sdm {

/// One learned map: `delta = b - R f` (the paper's x_k = x_{k-1} - R h + b). R is stored whole, or
/// as the product `R = left * right` when it was learned with reduced rank.
template <class Scalar>
class DescentMap {
 public:
  DescentMap() = default;
  DescentMap(Matrix<Scalar> r, Vector<Scalar> b);
  DescentMap(Matrix<Scalar> left, Matrix<Scalar> right, Vector<Scalar> b);

  Index delta_size() const { return bias_.size(); }
  Index feature_size() const { return right_.cols(); }
  /// The rank R was factored to, or 0 for a whole R.
  Index rank() const { return left_.size() == 0 ? 0 : left_.cols(); }

  /// `delta = b - R f`. `scratch` holds at least rank() values; nothing is allocated.
  void apply(ConstVectorRef<Scalar> features, VectorRef<Scalar> scratch,
             VectorRef<Scalar> delta) const;

  /// R as one matrix, whichever way it is stored.
  Matrix<Scalar> matrix() const;
  const Vector<Scalar>& bias() const { return bias_; }
  const Matrix<Scalar>& left() const { return left_; }    // empty for a whole R
  const Matrix<Scalar>& right() const { return right_; }  // R itself for a whole R

 private:
  Matrix<Scalar> left_, right_;
  Vector<Scalar> bias_;
};

/// The sequence of maps that training gives and solving runs.
template <class Scalar>
struct Cascade {
  std::vector<DescentMap<Scalar>> maps;
  Index state_size = 0;

  int stages() const { return static_cast<int>(maps.size()); }
  Index delta_size() const { return maps.empty() ? 0 : maps.front().delta_size(); }
  Index largest_feature_size() const;
  Index largest_rank() const;
};

/// A cascade as a model file of kind "cascade", and back. Throws Error on another kind or shape.
template <class Scalar>
io::Model to_model(const Cascade<Scalar>& cascade);
template <class Scalar>
Cascade<Scalar> cascade_from_model(const io::Model& model);

/// The maps alone as tensors "stage0.right", ... of a model of any kind, and back.
template <class Scalar>
void put_maps(io::Model& model, const std::vector<DescentMap<Scalar>>& maps);
template <class Scalar>
std::vector<DescentMap<Scalar>> get_maps(const io::Model& model, int stages);

}  // namespace sdm
