// Fits a decay, measured at forty times with noise, for any measurement: learned once from the
// function and the ranges of its parameters. Every answer says how far it may be trusted.

#include <sdm/sdm.h>

#include <cmath>
#include <cstdio>

int main() {
  const auto h = [](const auto& x, auto&& out) {  // amplitude, rate, offset
    for (int i = 0; i < 40; ++i) out[i] = x[0] * std::exp(-x[1] * 0.1 * i) + x[2];
  };
  const sdm::Box box{{0.5, 2}, {0.3, 3, sdm::Axis::Scale::kLog}, {-0.5, 0.5}};
  const auto learned = sdm::learn(h, box, {.features = 40, .noise = sdm::Noise::gaussian(0.01)});
  std::printf("%s", learned.full_report().c_str());

  // A measurement.
  const sdm::Vector<double> truth = Eigen::Vector3d(1.3, 0.8, 0.1);
  sdm::Vector<double> y(40);
  h(truth, y);
  sdm::Random random(7, "measurement");
  for (auto& value : y) value += 0.01 * random.normal();

  const auto answer = learned.solve(y);  // answer.x, answer.radius, answer.trusted()
  for (sdm::Index j = 0; j < 3; ++j)
    std::printf("x%d = %.4f +- %.4f, truth %.4f\n", int(j), answer.x[j], answer.radius[j],
                truth[j]);
  std::printf("%s\n", answer.message().c_str());

  // A range that was not learned, and a measurement that no state explains: both say so.
  h(Eigen::Vector3d(4, 0.8, 0.1), y);
  const auto beyond = learned.solve(y);
  std::printf("amplitude 4: %s\n", beyond.message().c_str());
  y.setRandom();
  const auto nonsense = learned.solve(y);
  std::printf("nonsense: %s\n", nonsense.message().c_str());
  return answer.trusted() && !beyond.trusted() && !nonsense.trusted() ? 0 : 1;
}
