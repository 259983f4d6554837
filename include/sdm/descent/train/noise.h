#pragma once

#include <functional>
#include <string>

#include "sdm/base/random.h"
#include "sdm/base/types.h"

namespace sdm {

/// The noise that measurements will have. Maps learned without it read digits that measured data
/// does not have.
class Noise {
 public:
  using Function = std::function<void(VectorRef<double> y, Random& random)>;

  Noise() = default;  // none: measurements are exact
  /// Normal, with one deviation for all features or one for each.
  static Noise gaussian(double sigma);
  static Noise gaussian(Vector<double> sigma);
  /// Counts: y is drawn from the Poisson distribution of mean h(x).
  static Noise poisson();
  /// The user's own: changes y in place, with random numbers from `random` alone. Called from
  /// several threads at once.
  static Noise function(Function add, std::string description = "a function of the user's");

  void add(VectorRef<double> y, Random& random) const;

  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_poisson() const { return kind_ == Kind::kPoisson; }
  /// The deviation of each feature where it was given so, or empty.
  const Vector<double>& sigma() const { return sigma_; }
  const std::string& description() const { return description_; }
  /// Throws Error unless there is a deviation for each feature, or one for all, and none is
  /// negative or not finite.
  void validate(Index features) const;

 private:
  enum class Kind { kNone, kGaussian, kPoisson, kFunction };
  Kind kind_ = Kind::kNone;
  Vector<double> sigma_;
  Function function_;
  std::string description_ = "none";
};

}  // namespace sdm
