#pragma once

#include <cstdint>
#include <vector>

#include "experiments/nist_problem.h"
#include "sdm/descent/cascade.h"
#include "sdm/types.h"

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

 private:
  Vector<double> low_, high_, sign_;  // sign 0: linear scale; +1, -1: log scale of that sign
};

struct LearnOptions {
  Index samples = 2000;
  int stages = 10;
  int folds = 4;
  std::uint64_t seed = 1;
  int threads = 0;
};

/// Reversed SDM for one NIST problem and one start: trained on h(beta) at the problem's abscissae,
/// for parameters drawn from the box.
class LearnedDescent {
 public:
  LearnedDescent(const NistProblem& problem, const Vector<double>& start,
                 const LearnOptions& options);

  struct Answer {
    Vector<double> beta;
    double rss = 0;
    int evaluations = 0;
  };
  /// Solves for data y. Gives the iterate with the least sum of squares.
  Answer solve(const Vector<double>& y) const;

 private:
  /// g(h(beta(u))): the model's values, centred and scaled at each abscissa by their median and
  /// spread over the box, then compressed by asinh, for values near a pole or an overflow would
  /// otherwise rule the regression.
  void features(ConstVectorRef<double> u, VectorRef<double> out) const;
  void compress(VectorRef<double> values) const;

  friend class ReversedProblem;
  const NistProblem* nist_;
  ParameterBox box_;
  Vector<double> start_, median_, spread_;
  Cascade<double> cascade_;
};

}  // namespace sdm::experiments
