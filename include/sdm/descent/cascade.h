#pragma once

#include <filesystem>
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

  /// R <- R - delta gain^T and b <- b + bias_gain delta, in place: what an online update does. Only
  /// for a whole R.
  void learn(ConstVectorRef<Scalar> delta, ConstVectorRef<Scalar> gain, Scalar bias_gain);

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
  /// Whether its features are h(x) - y, with a template y that a solve must be given, or h(x).
  bool template_known = true;

  int stages() const { return static_cast<int>(maps.size()); }
  Index delta_size() const { return maps.empty() ? 0 : maps.front().delta_size(); }
  Index largest_feature_size() const;
  Index largest_rank() const;

  /// As a model of kind "cascade", and back; and as a file. Throw Error on another kind or shape.
  io::Model to_model() const;
  static Cascade from_model(const io::Model& model);
  void save(const std::filesystem::path& path) const;
  static Cascade load(const std::filesystem::path& path);
};

}  // namespace sdm
