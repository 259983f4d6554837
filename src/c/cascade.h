#pragma once

#include <optional>

#include "sdm/descent/online.h"

/// The maps, and what they remember of their samples where they may learn on.
struct sdm_cascade {
  sdm::Cascade<double> plain;
  std::optional<sdm::OnlineCascade<double>> online;

  const sdm::Cascade<double>& cascade() const { return online ? online->cascade() : plain; }
};
