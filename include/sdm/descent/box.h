#pragma once

#include <string>
#include <vector>

#include "sdm/base/types.h"

namespace sdm {

/// The range of one value of a state.
struct Axis {
  double low = 0, high = 0;
  /// Where a value spans decades its logarithm is what varies evenly; both ends then have one sign.
  enum class Scale { kLinear, kLog } scale = Scale::kLinear;
  std::string name = {};  // for reports; empty: its number
};

/// Where states are expected: an axis for each of their values. What is learned in a box is known
/// in that box; everything inside works in u, which is -1 to 1 over each axis, so that no result
/// depends on anybody's units.
class Box {
 public:
  Box() = default;
  /// Throws Error naming the first axis that is empty, not finite or has no logarithm.
  explicit Box(std::vector<Axis> axes);
  Box(std::initializer_list<Axis> axes) : Box(std::vector<Axis>(axes)) {}

  Index size() const { return static_cast<Index>(axes_.size()); }
  const std::vector<Axis>& axes() const { return axes_; }
  /// The axis' own name, or "x3".
  std::string name(Index axis) const;

  double from_unit(Index axis, double u) const;
  /// The same for many values of one axis.
  void from_unit(Index axis, Index count, const double* u, double* x) const;
  /// Not a number where the value has no logarithm on a log axis.
  double to_unit(Index axis, double x) const;
  /// dx/du where the value is x.
  double slope(Index axis, double x) const;
  void from_unit(ConstVectorRef<double> u, VectorRef<double> x) const;
  void to_unit(ConstVectorRef<double> x, VectorRef<double> u) const;
  Vector<double> centre() const;
  bool contains(ConstVectorRef<double> x) const;

 private:
  // x = middle + half u, or sign exp(middle + half u) on a log axis.
  struct Line {
    double middle, half, sign;
  };
  std::vector<Axis> axes_;
  std::vector<Line> lines_;
};

}  // namespace sdm
