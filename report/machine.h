#pragma once

#include <string>

namespace sdm::report {

/// Processor, cores and memory of this machine, and the compiler that built the program.
std::string machine();

/// Now, as 2024-01-31 13:45 UTC.
std::string date_and_time();

/// Processor time of this thread: other work on the machine does not count.
double processor_seconds();
/// The same of all threads of the process together.
double process_seconds();

}  // namespace sdm::report
