#pragma once

#include <string>

#include "experiments/nist/problem.h"

namespace sdm::experiments {

struct PeerAnswer {
  Vector<double> beta;
  int evaluations = 0;  // of the residual
  double time_us = 0;
};

/// Whether Ceres was found when this was built.
extern const bool kHaveCeres;

/// Ceres' Levenberg-Marquardt from a start, with the same residual and Jacobian as ours.
/// Throws Error where Ceres is not built in.
PeerAnswer solve_ceres(const NistProblem& problem, const Vector<double>& start);
std::string ceres_settings();

}  // namespace sdm::experiments
