#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sdm/base/types.h"

namespace sdm::peers {

/// What a solver found, a column a fit.
struct FitAnswers {
  Matrix<double> x;
  std::vector<char> converged;  // as the solver itself tells
  Index evaluations = 0;        // of the residual, those that came with a Jacobian included
};

/// Fills x with where fit number `fit` begins.
using FitStart = std::function<void(Index fit, VectorRef<double> x)>;

/// Somebody else's solver on one model: one thread, analytic derivatives, one fit after the other.
struct FitPeer {
  std::string name;
  std::function<void(ConstMatrixRef<double> y, const FitStart& start, FitAnswers& answers)> solve;
};

/// What was asked of the peers that are built in, for the record; empty without any.
std::string fit_peer_settings();
extern const bool kHaveCeres, kHaveCminpack;

/// The peers that were found when this was built (tiny_solver, ceres, cminpack), for a model of
/// fit_models.h whose |h(x) - y|^2 is about `squared_residual`.
template <class Model>
std::vector<FitPeer> fit_peers(double squared_residual);

/// The best fit near the start, to the last digits that matter: TinySolver, or without Ceres our
/// own refine. `reference_fit_name` says which.
template <class Model>
FitPeer reference_fit(double squared_residual);
std::string reference_fit_name();

}  // namespace sdm::peers
