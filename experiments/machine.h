#pragma once

#include <string>

namespace sdm::experiments {

/// Processor, cores and memory of this machine, and the compiler that built the program.
std::string machine();

/// Now, as 2024-01-31 13:45 UTC.
std::string date_and_time();

}  // namespace sdm::experiments
