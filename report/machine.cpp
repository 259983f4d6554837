#include "report/machine.h"

#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <thread>

// SDM_STANDARD_ONLY does without the operating system.
#if (defined(__unix__) || defined(__APPLE__)) && !defined(SDM_STANDARD_ONLY)

#include <unistd.h>

namespace sdm::report {
namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

std::string memory() {
  const double bytes = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  return fmt::format(", {:.0f} GB", bytes / 1e9);
}

}  // namespace

double processor_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
double process_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace sdm::report

#else

namespace sdm::report {
namespace {

std::string memory() { return {}; }

}  // namespace

double processor_seconds() { return process_seconds(); }
double process_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace sdm::report

#endif

namespace sdm::report {
namespace {

#ifdef __VERSION__
constexpr const char* compiler = __VERSION__;
#else
constexpr const char* compiler = "unknown";
#endif

}  // namespace

std::string machine() {
  std::string processor = "unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos) {
      processor = line.substr(line.find(": ") + 2);
      break;
    }
  return fmt::format("{}, {} cores{}; compiler {}", processor, std::thread::hardware_concurrency(),
                     memory(), compiler);
}

std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  return text;
}

}  // namespace sdm::report
