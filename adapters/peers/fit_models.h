#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "sdm/descent/batched.h"

namespace sdm::peers {

/// Curves that laboratories fit by the million. Each has N parameters b and M values and comes in
/// two ways: `evaluate(b, values, jacobian)` for one fit, with the Jacobian (column-major) unless
/// it is null, and `evaluate_block(x, out)` for many, a column each. Neither allocates.

/// One value of each of up to 64 problems.
inline constexpr Index kLanes = 64;

/// first, first + step, ... as a table.
template <int M>
constexpr std::array<double, M> evenly(double first, double step) {
  std::array<double, M> values{};
  for (int i = 0; i < M; ++i) values[static_cast<std::size_t>(i)] = first + step * i;
  return values;
}

using Lanes = Eigen::Array<double, 1, Eigen::Dynamic, Eigen::RowMajor, 1, kLanes>;

/// A round Gaussian of K x K pixels, the first of which is at (First, First): amplitude, centre x
/// and y, width, background. exp(-r^2 / 2 w^2) is a product, so that 2 K exponentials are enough.
template <int K, int First>
struct GaussianPeak {
  static constexpr int N = 5, M = K * K;
  using Line = Eigen::Array<double, K, 1>;

  static void evaluate(const double* b, double* values, double* jacobian) {
    static constexpr auto pixels = evenly<K>(First, 1);
    const Eigen::Map<const Line> at(pixels.data());
    const double inverse = 1 / (b[3] * b[3]);
    const Line dx = at - b[1], dy = at - b[2];
    const Line ex = (dx.square() * (-0.5 * inverse)).exp();
    const Line ey = (dy.square() * (-0.5 * inverse)).exp();
    using Column = Eigen::Map<Line>;
    for (int r = 0; r < K; ++r) {
      const Line e = ex * ey[r];
      Column(values + r * K) = b[0] * e + b[4];
      if (jacobian == nullptr) continue;
      const Line v = (b[0] * inverse) * e;
      Column(jacobian + r * K) = e;
      Column(jacobian + M + r * K) = v * dx;
      Column(jacobian + 2 * M + r * K) = v * dy[r];
      Column(jacobian + 3 * M + r * K) = v * (dx.square() + dy[r] * dy[r]) * (1 / b[3]);
      Column(jacobian + 4 * M + r * K).setOnes();
    }
  }

  static void evaluate_block(const ConstBlockRef<double>& x, BlockRef<double> out) {
    std::array<Lanes, K> ex;
    const Lanes scale = -0.5 / x.row(3).array().square();
    for (int i = 0; i < K; ++i)
      ex[static_cast<std::size_t>(i)] =
          ((double(First + i) - x.row(1).array()).square() * scale).exp();
    for (int r = 0; r < K; ++r) {
      const Lanes ey =
          ((double(First + r) - x.row(2).array()).square() * scale).exp() * x.row(0).array();
      for (int c = 0; c < K; ++c)
        out.row(r * K + c).array() = ey * ex[static_cast<std::size_t>(c)] + x.row(4).array();
    }
  }
};

/// Decay of spins: amplitude, T2 in ms, offset, at 32 echoes 10 ms apart.
struct T2Relaxation {
  static constexpr int N = 3, M = 32;
  using Values = Eigen::Array<double, M, 1>;
  static constexpr auto times = evenly<M>(10, 10);
  static double time(int i) { return times[static_cast<std::size_t>(i)]; }

  static void evaluate(const double* b, double* values, double* jacobian) {
    const Eigen::Map<const Values> t(times.data());
    const Values e = (t * (-1 / b[1])).exp();
    Eigen::Map<Values> h(values);
    h = b[0] * e + b[2];
    if (jacobian == nullptr) return;
    Eigen::Map<Eigen::Array<double, M, N>> j(jacobian);
    j.col(0) = e;
    j.col(1) = e * t * (b[0] / (b[1] * b[1]));
    j.col(2).setOnes();
  }

  static void evaluate_block(const ConstBlockRef<double>& x, BlockRef<double> out) {
    const Lanes rate = -1 / x.row(1).array();
    for (int i = 0; i < M; ++i)
      out.row(i).array() = x.row(0).array() * (time(i) * rate).exp() + x.row(2).array();
  }
};

/// Two fluorescent lifetimes: amplitude and lifetime of each, at the middle of 256 bins of 0.05 ns.
struct Lifetimes {
  static constexpr int N = 4, M = 256;
  using Values = Eigen::Array<double, M, 1>;
  static constexpr auto times = evenly<M>(0.025, 0.05);
  static double time(int i) { return times[static_cast<std::size_t>(i)]; }

  static void evaluate(const double* b, double* values, double* jacobian) {
    const Eigen::Map<const Values> t(times.data());
    const Values first = (t * (-1 / b[1])).exp(), second = (t * (-1 / b[3])).exp();
    Eigen::Map<Values> h(values);
    h = b[0] * first + b[2] * second;
    if (jacobian == nullptr) return;
    Eigen::Map<Eigen::Array<double, M, N>> j(jacobian);
    j.col(0) = first;
    j.col(1) = first * t * (b[0] / (b[1] * b[1]));
    j.col(2) = second;
    j.col(3) = second * t * (b[2] / (b[3] * b[3]));
  }

  static void evaluate_block(const ConstBlockRef<double>& x, BlockRef<double> out) {
    const Lanes first = -1 / x.row(1).array(), second = -1 / x.row(3).array();
    for (int i = 0; i < M; ++i)
      out.row(i).array() =
          x.row(0).array() * (time(i) * first).exp() + x.row(2).array() * (time(i) * second).exp();
  }
};

/// b0 exp(-b1 t) + b2 at t = 0, 0.1, ... 3.9.
struct Decay {
  static constexpr int N = 3, M = 40;
  using Values = Eigen::Array<double, M, 1>;
  static constexpr auto times = evenly<M>(0, 0.1);
  static double time(int i) { return times[static_cast<std::size_t>(i)]; }

  static void evaluate(const double* b, double* values, double* jacobian) {
    const Eigen::Map<const Values> t(times.data());
    const Values e = (t * -b[1]).exp();
    Eigen::Map<Values> h(values);
    h = b[0] * e + b[2];
    if (jacobian == nullptr) return;
    Eigen::Map<Eigen::Array<double, M, N>> j(jacobian);
    j.col(0) = e;
    j.col(1) = e * t * -b[0];
    j.col(2).setOnes();
  }

  static void evaluate_block(const ConstBlockRef<double>& x, BlockRef<double> out) {
    for (int i = 0; i < M; ++i)
      out.row(i).array() =
          x.row(0).array() * (-time(i) * x.row(1).array()).exp() + x.row(2).array();
  }
};

/// The model as `learn` takes it: batched, with its derivatives. A single column, as `refine` asks
/// for, goes the way that is vectorised over the values.
template <class Model>
auto fit_function() {
  const auto h = [](const ConstBlockRef<double>& x, BlockRef<double> out) {
    if (x.cols() == 1) {
      std::array<double, Model::N> b;
      Eigen::Matrix<double, Model::M, 1> values;
      for (int j = 0; j < Model::N; ++j) b[static_cast<std::size_t>(j)] = x(j, 0);
      Model::evaluate(b.data(), values.data(), nullptr);
      out = values;
      return;
    }
    for (Index first = 0; first < x.cols(); first += kLanes) {
      const Index count = std::min(kLanes, x.cols() - first);
      Model::evaluate_block(x.middleCols(first, count), out.middleCols(first, count));
    }
  };
  const auto jacobian = [](const Eigen::Ref<const Vector<double>>& x,
                           Eigen::Ref<Matrix<double>> out) {
    Eigen::Matrix<double, Model::M, 1> values;
    if (out.outerStride() == Model::M) {
      Model::evaluate(x.data(), values.data(), out.data());
      return;
    }
    Eigen::Matrix<double, Model::M, Model::N> columns;
    Model::evaluate(x.data(), values.data(), columns.data());
    out = columns;
  };
  return with_jacobian(batched(h), jacobian);
}

}  // namespace sdm::peers
