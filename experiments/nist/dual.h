#pragma once

#include <Eigen/Core>
#include <cmath>

namespace sdm::experiments {

/// A value with its derivatives by N variables, so that a formula written once gives its Jacobian.
template <int N>
struct Dual {
  double v = 0;
  Eigen::Array<double, N, 1> d = Eigen::Array<double, N, 1>::Zero();

  Dual() = default;
  Dual(double value) : v(value) {}  // a constant; implicit, so that formulas read as formulas
  Dual(double value, const Eigen::Array<double, N, 1>& derivatives) : v(value), d(derivatives) {}

  friend Dual operator-(const Dual& a) { return {-a.v, -a.d}; }
  friend Dual operator+(const Dual& a, const Dual& b) { return {a.v + b.v, a.d + b.d}; }
  friend Dual operator-(const Dual& a, const Dual& b) { return {a.v - b.v, a.d - b.d}; }
  friend Dual operator*(const Dual& a, const Dual& b) { return {a.v * b.v, a.d * b.v + b.d * a.v}; }
  friend Dual operator/(const Dual& a, const Dual& b) {
    return {a.v / b.v, (a.d - b.d * (a.v / b.v)) / b.v};
  }
  friend Dual exp(const Dual& a) { return {std::exp(a.v), a.d * std::exp(a.v)}; }
  friend Dual log(const Dual& a) { return {std::log(a.v), a.d / a.v}; }
  friend Dual sin(const Dual& a) { return {std::sin(a.v), a.d * std::cos(a.v)}; }
  friend Dual cos(const Dual& a) { return {std::cos(a.v), a.d * -std::sin(a.v)}; }
  friend Dual atan(const Dual& a) { return {std::atan(a.v), a.d / (1 + a.v * a.v)}; }
  friend Dual pow(const Dual& a, const Dual& b) {
    const double p = std::pow(a.v, b.v);
    return {p, a.d * (b.v * std::pow(a.v, b.v - 1)) + b.d * (p * std::log(a.v))};
  }
};

}  // namespace sdm::experiments
