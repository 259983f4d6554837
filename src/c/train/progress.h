#pragma once

#include <chrono>
#include <functional>

#include "c/status.h"
#include "sdm/descent/train/train.h"

namespace sdm::c {

/// Tells the caller how far a training is; throws Cancelled where he has enough of it.
class Progress {
 public:
  Progress(sdm_progress tell, void* user) : tell_(tell), user_(user) {}

  void operator()(const char* activity, double share, double seconds_left) const {
    if (tell_ != nullptr && tell_(user_, activity, share, seconds_left) != 0) throw Cancelled();
  }

  /// Of a training that knows how long it will still take.
  std::function<void(const TrainProgress&)> of_training() const {
    return [*this, start = std::chrono::steady_clock::now()](const TrainProgress& at) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      (*this)(at.activity, spent.count() / (spent.count() + at.seconds_left), at.seconds_left);
    };
  }

 private:
  sdm_progress tell_;
  void* user_;
};

/// A text of the caller's that may be left out.
inline std::string text_or(const char* text, const char* otherwise) {
  return text == nullptr ? otherwise : text;
}

}  // namespace sdm::c
