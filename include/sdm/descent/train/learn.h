#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "sdm/descent/learned.h"
#include "sdm/descent/train/noise.h"

namespace sdm {

class Communicator;  // communicator.h

/// How to learn. The defaults suit a function that takes microseconds.
struct LearnOptions {
  /// How many values h has. Not needed where h returns them.
  Index features = 0;

  /// What the measurements will have; without it they are taken to be exact.
  Noise noise = {};

  /// Where every solve begins: a rule from y, or else this state, or else the centre of the box.
  StartRule start = {};
  Vector<double> x0 = {};

  /// Examples: states drawn evenly from the box (Sobol's sequence). h is evaluated once for each
  /// and once more in every stage after the first.
  Index samples = 20000;
  /// Fresh samples that set the gate and the radius and choose nothing else.
  Index calibration = 8000;

  /// Fewer examples, if h is slow: about so many evaluations in all, or so many seconds (which
  /// makes the result depend on the machine). 0: no limit.
  Index evaluations = 0;
  double seconds = 0;

  int max_stages = 12;
  /// Highest order of a map's dependence on the state: 0 is the paper's constant map.
  int max_order = 2;
  /// Most signs that part a stage into cells; 0: one cell.
  int max_bits = 3;
  /// Most components of the features.
  Index max_components = 32;

  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores. The same bits for any number.

  /// The other ranks, if h is slow: each evaluates its own part of the draws, and all get the same
  /// answer, bit for bit as one process alone. All must have processors of one type.
  Communicator* communicator = nullptr;

  /// Told in words and as a share of all that is to be done, by the thread that called `learn`.
  std::function<void(const char* activity, double share, double seconds_left)> progress = {};

  /// Throws Error naming the first option that makes no sense.
  void validate(const Box& box) const;
};

namespace detail {
Learned learn(AnyFunction h, const Box& box, const LearnOptions& options);
}

/// Learns to solve `min |h(x) - y|^2` for any y that a state of the box gives with that noise.
///
/// Draws states, evaluates h, adds the noise; then stage by stage: standardised residuals are
/// reduced to the components that rise above the noise, and ridge regression (penalty for each
/// value by held-out error) learns a map from them to what is missing of the state. How a map
/// depends on the state and whether the stage is parted into cells is chosen by held-out error, and
/// stages are added while one takes at least a twentieth off it. At last fresh samples tell what a
/// trustworthy answer looks like. No result depends on the units of states or features.
///
/// h is `h(x)`, `h(x, out)`, `batched(h)` or `with_jacobian(h, jacobian)`. It is called from
/// several threads at once. Throws Error on bad options, and where h gives no finite value for more
/// than half of the box.
template <class H>
Learned learn(H h, const Box& box, LearnOptions options = {}) {
  if (box.size() > 0) {
    if constexpr (requires(const Vector<double>& x) { h(x).size(); })
      options.features = h(box.centre()).size();
    else if constexpr (requires(const Vector<double>& x) { h.h(x).size(); })
      options.features = h.h(box.centre()).size();
  }
  return detail::learn(AnyFunction(std::move(h)), box, options);
}

}  // namespace sdm
