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

Stage cross_fit(const Matrix<double>& f, const Matrix<double>& d, const Vector<double>& w,
                const std::vector<int>& fold, const std::vector<double>& factors, bool bias) {
  Stage result;
  result.deltas.resize(d.rows(), d.cols());
  const int folds = *std::max_element(fold.begin(), fold.end()) + 1;
  double best = std::numeric_limits<double>::infinity();
  for (const double factor : factors) {
    double error = 0;
    Matrix<double> deltas(d.rows(), d.cols());
    for (int k = 0; k < folds; ++k) {
      std::vector<Index> in, out;
      for (Index i = 0; i < f.cols(); ++i)
        (fold[static_cast<std::size_t>(i)] == k ? in : out).push_back(i);
      const Matrix<double> seen = columns(f, out);
      const Vector<double> weights = entries(w, out);
      const Map map =
          ridge(seen, columns(d, out), weights, factor * trace_share(seen, weights, bias), bias);
      for (const Index i : in) {
        deltas.col(i) = map.apply(f.col(i));
        error += w[i] * (d.col(i) - deltas.col(i)).squaredNorm();
      }
    }
    if (error < best) {
      best = error;
      result.factor = factor;
      result.deltas = deltas;
    }
  }
  result.full = ridge(f, d, w, result.factor * trace_share(f, w, bias), bias);
  return result;
}

}  // namespace sdm::naive
