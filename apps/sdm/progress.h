#pragma once

#include <chrono>
#include <string>

namespace sdm::app {

/// Tells on stderr how far a long job is and how much time is left. Silent for the first two
/// seconds. A terminal gets a bar that redraws itself; a log gets a plain line every few seconds.
class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `share` of the whole job that is done, 0 to 1.
  void update(double share, const std::string& activity = "");
  /// Takes the bar off the terminal, so that other text can be written.
  void clear() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  bool terminal_;
  Clock::time_point start_, next_;
  bool drawn_ = false;
};

}  // namespace sdm::app
