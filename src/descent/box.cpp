#include "sdm/descent/box.h"

#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm {

Box::Box(std::vector<Axis> axes) : axes_(std::move(axes)) {
  if (axes_.empty()) throw Error("the box has no axes, expected one for each value of a state");
  for (Index j = 0; j < size(); ++j) {
    const Axis& axis = axes_[static_cast<std::size_t>(j)];
    if (!std::isfinite(axis.low) || !std::isfinite(axis.high) || !(axis.low < axis.high))
      throw Error(
          formatted("axis {} of the box runs from {} to {}, expected a finite range from "
                    "a lower to a higher value",
                    name(j), axis.low, axis.high));
    double low = axis.low, high = axis.high, sign = 0;
    if (axis.scale == Axis::Scale::kLog) {
      if (!(low * high > 0) && !(low > 0) && !(high < 0))
        throw Error(
            formatted("axis {} of the box is logarithmic and runs from {} to {}, expected "
                      "both ends above or both below zero",
                      name(j), low, high));
      sign = low > 0 ? 1 : -1;
      low = std::log(std::abs(axis.low));
      high = std::log(std::abs(axis.high));
    }
    lines_.push_back({(low + high) / 2, (high - low) / 2, sign});
  }
}

std::string Box::name(Index axis) const {
  const std::string& own = axes_[static_cast<std::size_t>(axis)].name;
  return own.empty() ? formatted("x{}", axis) : own;
}

double Box::from_unit(Index axis, double u) const {
  const Line& line = lines_[static_cast<std::size_t>(axis)];
  const double v = line.middle + line.half * u;
  return line.sign == 0 ? v : line.sign * std::exp(v);
}

void Box::from_unit(Index axis, Index count, const double* u, double* x) const {
  const Line& line = lines_[static_cast<std::size_t>(axis)];
  const Eigen::Map<const Eigen::ArrayXd> from(u, count);
  Eigen::Map<Eigen::ArrayXd> to(x, count);
  if (line.sign == 0)
    to = line.middle + line.half * from;
  else
    to = line.sign * (line.middle + line.half * from).exp();
}

double Box::to_unit(Index axis, double x) const {
  const Line& line = lines_[static_cast<std::size_t>(axis)];
  return ((line.sign == 0 ? x : std::log(line.sign * x)) - line.middle) / line.half;
}

double Box::slope(Index axis, double x) const {
  const Line& line = lines_[static_cast<std::size_t>(axis)];
  return line.sign == 0 ? line.half : x * line.half;
}

void Box::from_unit(ConstVectorRef<double> u, VectorRef<double> x) const {
  for (Index j = 0; j < size(); ++j) x[j] = from_unit(j, u[j]);
}

void Box::to_unit(ConstVectorRef<double> x, VectorRef<double> u) const {
  for (Index j = 0; j < size(); ++j) u[j] = to_unit(j, x[j]);
}

Vector<double> Box::centre() const {
  Vector<double> x(size());
  from_unit(Vector<double>::Zero(size()), x);
  return x;
}

bool Box::contains(ConstVectorRef<double> x) const {
  for (Index j = 0; j < size(); ++j) {
    const Axis& axis = axes_[static_cast<std::size_t>(j)];
    if (!(x[j] >= axis.low && x[j] <= axis.high)) return false;
  }
  return true;
}

}  // namespace sdm
