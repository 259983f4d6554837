#pragma once

#include <string>

namespace sdm::report {

/// Processor, cores and memory of this machine as far as it tells them, and the compiler that built
/// the program.
std::string machine();

/// Now, as 2024-01-31 13:45 UTC.
std::string date_and_time();

/// Processor time of this thread: other work on the machine does not count. Where the system tells
/// it for all threads only, of these.
double processor_seconds();
/// The same of all threads of the process together.
double process_seconds();

}  // namespace sdm::report
