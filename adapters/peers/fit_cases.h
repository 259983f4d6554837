#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/peers/fit_peers.h"
#include "sdm/descent/train/learn.h"

namespace sdm::peers {

/// One curve that is fitted again and again: the model, what is known of its parameters and of the
/// noise, where every method starts, and the others who fit it.
struct FitCase {
  std::string name;
  AnyFunction h;  // batched, with derivatives
  Index features = 0;
  Box box;
  Noise noise;
  StartRule start;  // empty: the centre of the box
  std::vector<FitPeer> peers;
  FitPeer reference;  // the best fit, from a start beside it

  /// As `learn` wants it.
  LearnOptions learn_options() const;
  /// Where a peer begins on the measurements y: the same place.
  FitStart start_on(const Matrix<double>& y) const;
};

/// gauss5, gauss11, t2, lifetime, decay/1e-3, decay/1e-2, decay/2e-2.
std::vector<FitCase> fit_cases();

/// Truths and what is measured of them.
struct FitSamples {
  Matrix<double> truth, y;
};

/// Truths drawn evenly from a box `range` times as wide as the case's, in the box's own coordinates
/// about its centre. With Poisson noise a truth that has a negative mean anywhere is drawn again,
/// for no count has one.
FitSamples draw_fits(const FitCase& fit, Index count, double range, std::uint64_t seed);

/// The deviation of each parameter that no unbiased estimate goes below (Cramer and Rao), a column
/// a sample: from the analytic Jacobian at the truth and the noise that is known. Of a Poisson mean
/// below a thousandth a thousandth is taken.
Matrix<double> standard_errors(const FitCase& fit, const Matrix<double>& truth);

}  // namespace sdm::peers
