#pragma once

#include "experiments/nist/problem.h"
#include "sdm/descent/train/learn.h"

namespace sdm::experiments {

/// Where the parameters of a NIST problem are looked for: both starts and the certified answer lie
/// inside, with a margin of a tenth of its width; on a log axis where they have one sign and span
/// more than a factor of five.
Box parameter_box(const NistProblem& problem);

/// What the maps are to expect of the data: normal noise of a tenth of their deviation.
Noise expected_noise(const NistProblem& problem);

/// Learns to solve a problem from one start. Needs a problem that outlives it.
Learned learn_nist(const NistProblem& problem, const Vector<double>& start, LearnOptions options);

/// Maps alone; and with refine to the last digits, for NIST certifies eleven.
LearnedSolveOptions maps_alone();
LearnedSolveOptions all_digits();

}  // namespace sdm::experiments
