#pragma once

#include <vector>

#include "sdm/base/types.h"

namespace sdm::naive {

/// R and b of `delta = b - R f`.
struct Map {
  Matrix<double> r;
  Vector<double> b;
  Matrix<double> apply(const Matrix<double>& f) const { return (-r * f).colwise() + b; }
};

/// Weighted ridge of the whole data matrix; the penalty does not hold the bias.
Map ridge(const Matrix<double>& f, const Matrix<double>& d, const Vector<double>& w, double lambda,
          bool bias);

/// trace(Gram) / size of the weighted features, about their mean where there is a bias.
double trace_share(const Matrix<double>& f, const Vector<double>& w, bool bias);

Matrix<double> columns(const Matrix<double>& all, const std::vector<Index>& which);
Vector<double> entries(const Vector<double>& all, const std::vector<Index>& which);

/// Deviation of each row, from its mean where there is a bias, from zero where there is none.
Vector<double> deviations(const Matrix<double>& rows, const Vector<double>& w, bool bias);

/// One stage of training as a person would write it, with the data matrix stored. `fold` tells each
/// sample's fold; every output is a regression of its own, for which the factors are tried in order
/// and the least held-out error wins.
struct Stage {
  Map full;
  Vector<double> factor;  // of each output
  Matrix<double> deltas;  // of every sample, by the map that did not see it
};
Stage cross_fit(const Matrix<double>& f, const Matrix<double>& d, const Vector<double>& w,
                const std::vector<int>& fold, const std::vector<double>& factors, bool bias);

}  // namespace sdm::naive
