// A model meets data unlike its training set. Online SDM folds a few labelled samples into it,
// without the training data: recursive least squares on every stage.

#include <sdm/descent/online.h>
#include <sdm/descent/solve.h>
#include <sdm/descent/train/train.h>

#include <cmath>
#include <cstdio>

namespace {

// A sensor with a gain: h(x) = gain * tanh(x - a), the place a is what we look for. The template is
// not known (it depends on the gain), so the maps carry a bias.
struct Sensor {
  using Scalar = double;
  double gain;
  sdm::Matrix<double> places;

  sdm::Index samples() const { return places.cols(); }
  sdm::Index state_size() const { return 1; }
  sdm::Index feature_size(int /*stage*/) const { return 3; }
  bool template_known() const { return false; }
  void features(sdm::Index i, int /*stage*/, sdm::ConstVectorRef<double> x,
                sdm::VectorRef<double> out) const {
    const double off = x[0] - places(0, i);
    out << gain * std::tanh(off), gain * std::tanh(off - 0.5), gain * std::tanh(off + 0.5);
  }
};

double mean_error(const sdm::Cascade<double>& cascade, const Sensor& sensor) {
  double sum = 0;
  for (sdm::Index i = 0; i < sensor.samples(); ++i)
    sum += std::abs(sdm::solve(cascade, sensor, i, sdm::Vector<double>::Zero(1)).x[0] -
                    sensor.places(0, i));
  return sum / static_cast<double>(sensor.samples());
}

}  // namespace

int main() {
  const Sensor usual{1.0, sdm::Matrix<double>::Random(1, 500)};
  sdm::TrainOptions options;
  options.keep_inverse_covariance = true;
  auto model =
      sdm::online(sdm::train(usual, sdm::Matrix<double>::Zero(1, 1), usual.places, options));

  const Sensor worn{0.6, sdm::Matrix<double>::Random(1, 200)};  // the gain has dropped
  const double before = mean_error(model.cascade(), worn);
  for (sdm::Index i = 0; i < 10; ++i)
    model.update(worn, i, sdm::Vector<double>::Zero(1), worn.places.col(i), {.weight = 50});
  const double after = mean_error(model.cascade(), worn);
  std::printf("mean error on the worn sensor: %.3f before, %.3f after ten labelled samples\n",
              before, after);
  return after < 0.5 * before ? 0 : 1;
}
