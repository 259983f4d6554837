#include "sdm/descent/train/noise.h"

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm {

Noise Noise::gaussian(double sigma) { return gaussian(Vector<double>::Constant(1, sigma)); }

Noise Noise::gaussian(Vector<double> sigma) {
  Noise noise;
  noise.kind_ = Kind::kGaussian;
  noise.description_ = sigma.size() == 1 ? formatted("normal, deviation {:.6g}", sigma[0])
                                         : "normal, a deviation for each feature";
  noise.sigma_ = std::move(sigma);
  return noise;
}

Noise Noise::poisson() {
  Noise noise;
  noise.kind_ = Kind::kPoisson;
  noise.description_ = "Poisson";
  return noise;
}

Noise Noise::function(Function add, std::string description) {
  if (!add) throw Error("the noise function is empty");
  Noise noise;
  noise.kind_ = Kind::kFunction;
  noise.function_ = std::move(add);
  noise.description_ = std::move(description);
  return noise;
}

void Noise::add(VectorRef<double> y, Random& random) const {
  switch (kind_) {
    case Kind::kNone:
      break;
    case Kind::kGaussian:
      for (Index i = 0; i < y.size(); ++i)
        y[i] += sigma_[sigma_.size() == 1 ? 0 : i] * random.normal();
      break;
    case Kind::kPoisson:
      for (Index i = 0; i < y.size(); ++i) y[i] = random.poisson(y[i]);
      break;
    case Kind::kFunction:
      function_(y, random);
      break;
  }
}

void Noise::validate(Index features) const {
  if (kind_ != Kind::kGaussian) return;
  if (sigma_.size() != 1 && sigma_.size() != features)
    throw Error(
        formatted("the noise has {} deviations, expected one, or one for each of {} features",
                  sigma_.size(), features));
  if (!sigma_.allFinite() || (sigma_.array() < 0).any())
    throw Error("a deviation of the noise is negative or not finite");
}

}  // namespace sdm
