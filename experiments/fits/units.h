#pragma once

#include <string>
#include <vector>

#include "adapters/peers/fit_cases.h"

namespace sdm::experiments {

/// A change of units: of one measured value (its index, its factor) or of one parameter.
struct UnitChange {
  std::string name;
  Index feature = -1, state = -1;
  double factor = 1;
};
std::vector<UnitChange> unit_changes();

/// The case with one value in other units, and a deviation for each feature. Needs normal noise.
peers::FitCase in_other_units(const peers::FitCase& fit, const UnitChange& change);

/// Learns and solves the case in its own and in other units, on the same samples. Gives the largest
/// change of any parameter's root mean square error, in percent.
double error_change_percent(const peers::FitCase& fit, const UnitChange& change,
                            const LearnOptions& options, const LearnedSolveOptions& solve_options);

}  // namespace sdm::experiments
