#include "tests/descent/train/naive.h"

#include <algorithm>
#include <limits>

#include "tests/linear/ridge_by_qr.h"

namespace sdm::naive {

Map ridge(const Matrix<double>& f, const Matrix<double>& d, const Vector<double>& w, double lambda,
          bool bias) {
  const Index size = f.rows();
  const Matrix<double> x = ridge_by_qr(f, d, w, lambda, bias);
  Map map{-x.topRows(size).transpose(), Vector<double>::Zero(d.rows())};
  if (bias) map.b = x.row(size).transpose();
  return map;
}

double trace_share(const Matrix<double>& f, const Vector<double>& w, bool bias) {
  Matrix<double> g = f;
  if (bias) g.colwise() -= Vector<double>(f * w / w.sum());
  return (g * w.asDiagonal() * g.transpose()).trace() / static_cast<double>(f.rows());
}

Matrix<double> columns(const Matrix<double>& all, const std::vector<Index>& which) {
  return all(Eigen::all, which);
}
Vector<double> entries(const Vector<double>& all, const std::vector<Index>& which) {
  return all(which);
}

Vector<double> deviations(const Matrix<double>& rows, const Vector<double>& w, bool bias) {
  Matrix<double> g = rows;
  if (bias) g.colwise() -= Vector<double>(rows * w / w.sum());
  return (g * w.asDiagonal() * g.transpose() / w.sum()).diagonal().cwiseSqrt();
}

Stage cross_fit(const Matrix<double>& f, const Matrix<double>& d, const Vector<double>& w,
                const std::vector<int>& fold, const std::vector<double>& factors, bool bias) {
  Stage result;
  result.deltas.resize(d.rows(), d.cols());
  result.factor.resize(d.rows());
  result.full = {Matrix<double>(d.rows(), f.rows()), Vector<double>(d.rows())};
  const int folds = *std::max_element(fold.begin(), fold.end()) + 1;
  for (Index output = 0; output < d.rows(); ++output) {
    const Matrix<double> own = d.row(output);
    double best = std::numeric_limits<double>::infinity();
    for (const double factor : factors) {
      double error = 0;
      Matrix<double> deltas(1, d.cols());
      for (int k = 0; k < folds; ++k) {
        std::vector<Index> in, out;
        for (Index i = 0; i < f.cols(); ++i)
          (fold[static_cast<std::size_t>(i)] == k ? in : out).push_back(i);
        const Matrix<double> seen = columns(f, out);
        const Vector<double> weights = entries(w, out);
        const Map map = ridge(seen, columns(own, out), weights,
                              factor * trace_share(seen, weights, bias), bias);
        for (const Index i : in) {
          deltas.col(i) = map.apply(f.col(i));
          error += w[i] * (own.col(i) - deltas.col(i)).squaredNorm();
        }
      }
      if (error < best) {
        best = error;
        result.factor[output] = factor;
        result.deltas.row(output) = deltas;
      }
    }
    const Map full = ridge(f, own, w, result.factor[output] * trace_share(f, w, bias), bias);
    result.full.r.row(output) = full.r;
    result.full.b[output] = full.b[0];
  }
  return result;
}

}  // namespace sdm::naive
