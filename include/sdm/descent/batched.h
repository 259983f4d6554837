#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "sdm/descent/problem.h"

namespace sdm {

/// States or features of many problems at once: a column a problem, stored row by row, so that the
/// same value of all of them is contiguous and an expression on `x.row(0).array()` runs in vectors.
template <class Scalar>
using Block = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using ConstBlockRef = Eigen::Ref<const Block<Scalar>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using BlockRef = Eigen::Ref<Block<Scalar>, 0, Eigen::OuterStride<>>;

/// A function `h(x, out)` of blocks: out.col(i) = h(x.col(i)) for every column, of which there are
/// never more than 64 unless AnyFunction::set_widest says so. Made by `batched`.
/// Everything that takes a plain h takes one of these too, and hands it single columns where it has
/// no more.
template <class H>
struct Batched {
  H h;

  void operator()(const ConstBlockRef<double>& x, BlockRef<double> out) const { h(x, out); }
  void operator()(const Vector<double>& x, VectorRef<double> out) const { one(x, out); }
  void operator()(const Eigen::Ref<const Vector<double>>& x, VectorRef<double> out) const {
    one(x, out);
  }

 private:
  void one(const Eigen::Ref<const Vector<double>>& x, VectorRef<double> out) const {
    h(ConstBlockRef<double>(Eigen::Map<const Block<double>>(x.data(), x.size(), 1)),
      BlockRef<double>(Eigen::Map<Block<double>>(out.data(), out.size(), 1)));
  }
};

template <class H>
Batched<H> batched(H h) {
  return {std::move(h)};
}

/// A function and its derivatives, for `refine`: `jacobian(x, out)` fills out(i, j) with
/// d h_i / d x_j. Made by `with_jacobian`.
template <class H, class Jacobian>
struct Differentiable {
  H h;
  Jacobian jacobian;
};

template <class H, class Jacobian>
Differentiable<H, Jacobian> with_jacobian(H h, Jacobian jacobian) {
  return {std::move(h), std::move(jacobian)};
}

/// Any h behind one type: plain, batched, with or without derivatives.
class AnyFunction {
 public:
  using Jacobian = std::function<void(const Eigen::Ref<const Vector<double>>& x,
                                      Eigen::Ref<Matrix<double>> out)>;

  AnyFunction() = default;
  template <class H>
  requires(!std::is_same_v<std::remove_cvref_t<H>, AnyFunction>)
      AnyFunction(H h)  // implicit, so that a lambda is enough
  {
    set(std::move(h));
  }

  explicit operator bool() const { return static_cast<bool>(values_); }
  const Jacobian& jacobian() const { return jacobian_; }

  /// Most columns that one call is given. A call that costs much whatever it does, as one into
  /// another language, wants more of them.
  Index widest() const { return widest_; }
  void set_widest(Index columns) { widest_ = columns; }

  /// out.col(i) = h(x.col(i)). `scratch` holds a state and a feature vector; nothing is allocated
  /// unless h does.
  void operator()(const ConstBlockRef<double>& x, BlockRef<double> out,
                  VectorRef<double> scratch) const {
    values_(x, out, scratch);
  }

 private:
  template <class H>
  void set(H h) {
    values_ = [h = std::move(h)](const ConstBlockRef<double>& x, BlockRef<double> out,
                                 VectorRef<double> scratch) {
      auto state = scratch.head(x.rows());
      auto features = scratch.segment(x.rows(), out.rows());
      for (Index i = 0; i < x.cols(); ++i) {
        state = x.col(i);
        VectorRef<double> values = features;
        detail::evaluate(h, Eigen::Ref<const Vector<double>>(state), values);
        out.col(i) = features;
      }
    };
  }
  template <class H>
  void set(Batched<H> h) {
    values_ = [h = std::move(h)](const ConstBlockRef<double>& x, BlockRef<double> out,
                                 VectorRef<double>) { h(x, out); };
  }
  template <class H, class J>
  void set(Differentiable<H, J> both) {
    set(std::move(both.h));
    jacobian_ = std::move(both.jacobian);
  }

  std::function<void(const ConstBlockRef<double>&, BlockRef<double>, VectorRef<double>)> values_;
  Jacobian jacobian_;
  Index widest_ = 64;
};

}  // namespace sdm
