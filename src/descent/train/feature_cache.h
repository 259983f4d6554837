#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/descent/train/train.h"

namespace sdm::detail {

/// Runs one of the problem's own functions, so that what it throws names stage and sample.
template <class Call>
void guarded(const char* member, int stage, Index sample, Call&& call) {
  try {
    call();
  } catch (const std::exception& e) {
    throw Error(formatted("stage {}, sample {}: the problem's {} threw: {}", stage, sample, member,
                          e.what()));
  }
}

/// The features of all samples in one stage, each evaluated once as far as they fit in memory.
/// Where the features are a function of the state less a template and all samples stand at one
/// place, the function is evaluated once for all of them. What is kept changes no bit.
template <class Scalar>
class FeatureCache {
 public:
  /// `states` are those that the samples stand at, a column each; they and the problem must outlive
  /// the cache.
  FeatureCache(const AnyProblem<Scalar>& problem, const Matrix<Scalar>& states, double bytes)
      : problem_(problem), states_(states), bytes_(bytes) {}

  /// Goes on to a stage; does nothing if it is the one at hand. From here on a sample may move when
  /// its features have been asked for the last time.
  void begin(int stage) {
    if (stage == stage_) return;
    stage_ = -1;
    const Index size = problem_.feature_size(stage), samples = states_.cols();
    common_ = problem_.one_function() && all_at_one_place();
    const double fitting = bytes_ / (sizeof(Scalar) * static_cast<double>(size));
    capacity_ = common_ ? 0 : static_cast<Index>(std::min(fitting, static_cast<double>(samples)));
    kept_.resize(size, capacity_);
    known_.assign(static_cast<std::size_t>(capacity_), 0);
    if (common_) {
      values_.resize(size);
      guarded("features", stage, 0, [&] { problem_.values_at(stage, states_.col(0), values_); });
    }
    stage_ = stage;
  }

  /// Whether no feature of this stage needs to be evaluated twice.
  bool whole() const { return common_ || capacity_ == states_.cols(); }

  /// Threads may ask at once for different samples. Throws Error, naming stage and sample, if the
  /// problem throws or a feature is not finite.
  void get(Index sample, VectorRef<Scalar> out) {
    const auto s = static_cast<std::size_t>(sample);
    if (sample < capacity_ && known_[s] != 0) {
      out = kept_.col(sample);
      return;
    }
    guarded("features", stage_, sample, [&] {
      if (common_) {
        out = values_;
        problem_.subtract_template(sample, out);
      } else {
        problem_.features(sample, stage_, states_.col(sample), out);
      }
    });
    check(sample, out);
    if (sample >= capacity_) return;
    kept_.col(sample) = out;
    known_[s] = 1;
  }

 private:
  void check(Index sample, ConstVectorRef<Scalar> out) const {
    if (out.allFinite()) return;
    Index bad = 0;
    while (std::isfinite(out[bad])) ++bad;
    throw Error(formatted("stage {}, sample {}: feature {} is {}, expected a finite number", stage_,
                          sample, bad, out[bad]));
  }

  // To the bit: h may tell 0 from -0.
  bool all_at_one_place() const {
    const std::size_t size = sizeof(Scalar) * static_cast<std::size_t>(states_.rows());
    for (Index i = 1; i < states_.cols(); ++i)
      if (std::memcmp(states_.col(0).data(), states_.col(i).data(), size) != 0) return false;
    return true;
  }

  const AnyProblem<Scalar>& problem_;
  const Matrix<Scalar>& states_;
  double bytes_;
  int stage_ = -1;
  bool common_ = false;
  Vector<Scalar> values_;  // of the function, where samples share a place
  Index capacity_ = 0;     // the samples below it are kept
  Matrix<Scalar> kept_;
  std::vector<char> known_;
};

}  // namespace sdm::detail
