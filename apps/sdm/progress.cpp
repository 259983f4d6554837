#include "apps/sdm/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "apps/sdm/platform.h"
#include "apps/sdm/tell.h"

namespace sdm::app {
namespace {

using namespace std::chrono_literals;

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Progress::Progress(std::string title)
    : title_(std::move(title)),
      terminal_(is_terminal(stderr)),
      start_(Clock::now()),
      next_(start_ + 2s) {}

void Progress::update(double share, const std::string& activity) {
  const auto now = Clock::now();
  if (now < next_ || is_quiet()) return;
  share = std::clamp(share, 0.0, 1.0);
  const double spent = std::chrono::duration<double>(now - start_).count();
  const std::string left =
      share > 0.01 ? duration(spent * (1 - share) / share) + " left" : "estimating";
  if (terminal_) {
    const int filled = static_cast<int>(share * 30);
    std::fputs("\r\033[K", stderr);
    tell("{} [{:#<{}}{:.<{}}] {:3.0f} %  {}  {:.40}", title_, "", filled, "", 30 - filled,
         share * 100, left, activity);
    drawn_ = true;
  } else {
    tell("{}: {:.0f} %, {}  {}\n", title_, share * 100, left, activity);
  }
  std::fflush(stderr);
  next_ = now + (terminal_ ? Clock::duration(200ms) : Clock::duration(5s));
}

void Progress::clear() noexcept {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace sdm::app
