#pragma once

#include <cstdint>
#include <vector>

#include "experiments/nist/problem.h"
#include "sdm/base/types.h"
#include "sdm/descent/cascade.h"

namespace sdm::experiments {

/// The box of parameters a NIST problem is learned in: both starts and the certified answer lie
/// inside, with a margin. Each parameter becomes a number u, -1 to 1 over the box, on a log scale
/// where its ends have one sign and span more than a factor of five.
class ParameterBox {
 public:
  explicit ParameterBox(const NistProblem& problem);

  Index size() const { return low_.size(); }
  Vector<double> to_box(ConstVectorRef<double> beta) const;
  void from_box(ConstVectorRef<double> u, double* beta) const;
  /// Cells of the box: each of its (at most three) widest log scales is cut in halves, since one
  /// linear map cannot serve several decades.
  struct Cell {
    Vector<double> low, high;  // in u
  };
  std::vector<Cell> cells() const;

 private:
  Vector<double> low_, high_, sign_;  // sign 0: linear scale; +1, -1: log scale of that sign
};

struct LearnOptions {
  Index samples = 2000;  // in each cell
  int stages = 8;
  int folds = 4;
  /// Deviation of the noise added to the samples' data, in units of the features. Without it the
  /// maps learn to read digits that measured data does not have.
  double noise = 0.01;
  std::uint64_t seed = 1;
  int threads = 0;
};

/// Reversed SDM for one NIST problem and one start: trained on h(beta) at the problem's abscissae,
/// for parameters drawn from the box, cell by cell.
class LearnedDescent {
 public:
  LearnedDescent(const NistProblem& problem, const Vector<double>& start,
                 const LearnOptions& options);

  struct Answer {
    Vector<double> beta;
    double residual = 0;  // squared, in units of scale, on a log scale where values span decades
    int evaluations = 0;
  };
  /// Solves for data y in every cell. Gives the iterate with the least residual.
  Answer solve(const Vector<double>& y) const;

 private:
  /// g(h(beta(u))) with g(v) = asinh((v - centre) / scale) at each abscissa, so that values near a
  /// pole or an overflow do not rule the regression. Centre and scale are the median and the
  /// interquartile range over the samples; where the values span more than three decades they are
  /// zero and the size of the small ones, which makes g a logarithm that minds the sign.
  void features(ConstVectorRef<double> u, VectorRef<double> out) const;
  void compress(VectorRef<double> values) const;
  void fit_compression(const Matrix<double>& samples);

  /// One cell's cascade and where it starts: the point of the cell nearest to the given start.
  struct Learned {
    ParameterBox::Cell cell;
    Vector<double> start;
    Cascade<double> cascade;
  };

  friend class ReversedProblem;
  const NistProblem* nist_;
  ParameterBox box_;
  Eigen::ArrayXd centre_, scale_;
  Eigen::Array<bool, Eigen::Dynamic, 1> log_scale_;
  std::vector<Learned> learned_;
};

}  // namespace sdm::experiments
