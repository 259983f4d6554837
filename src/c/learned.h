#pragma once

#include "c/problem.h"
#include "sdm/descent/learned.h"

struct sdm_learned {
  sdm::Learned learned;
};

namespace sdm::c {

/// Steps of differences that are small in this box.
Vector<double> difference_steps(const Box& box);
StartRule start_rule_of(const sdm_problem& problem);

}  // namespace sdm::c
