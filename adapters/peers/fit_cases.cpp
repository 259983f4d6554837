#include "adapters/peers/fit_cases.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>

#include "adapters/peers/fit_models.h"
#include "sdm/base/random.h"

namespace sdm::peers {
namespace {

constexpr auto kLog = Axis::Scale::kLog;

Matrix<double> values_of(const FitCase& fit, const Matrix<double>& x) {
  const Block<double> states = x;
  Block<double> values(fit.features, x.cols());
  Vector<double> scratch(x.rows() + fit.features);
  fit.h(states, values, scratch);
  return values;
}

template <class Model>
FitCase make_case(std::string name, Box box, Noise noise, StartRule start = {}) {
  FitCase fit{std::move(name),  fit_function<Model>(), Model::M, std::move(box),
              std::move(noise), std::move(start),      {},       {}};
  const double squared_residual = fit.noise.is_poisson()
                                      ? values_of(fit, fit.box.centre()).sum()
                                      : Model::M * fit.noise.sigma()[0] * fit.noise.sigma()[0];
  fit.peers = fit_peers<Model>(squared_residual);
  fit.reference = reference_fit<Model>(squared_residual);
  return fit;
}

/// Background from the rim, then moments of what stands out of it; kept in the box.
template <int K, int First>
void start_by_moments(const Box& box, const double* y, double* x) {
  double rim = 0;
  for (int i = 0; i < K - 1; ++i)
    rim += y[i] + y[K - 1 + i * K] + y[K * K - 1 - i] + y[(i + 1) * K];
  const double background = rim / (4 * K - 4);
  const double threshold = std::sqrt(std::max(background, 0.0) + 1);
  double sum = 1e-9, sx = 0, sy = 0, squares = 0;
  for (int r = 0; r < K; ++r)
    for (int c = 0; c < K; ++c) {
      const double above = y[r * K + c] - background, w = above < threshold ? 0 : above;
      const double px = First + c, py = First + r;
      sum += w;
      sx += w * px;
      sy += w * py;
      squares += w * (px * px + py * py);
    }
  const auto kept = [&](int j, double value) {
    const Axis& axis = box.axes()[static_cast<std::size_t>(j)];
    return std::clamp(value, axis.low, axis.high);
  };
  x[1] = kept(1, sx / sum);
  x[2] = kept(2, sy / sum);
  const double variance = (squares / sum - x[1] * x[1] - x[2] * x[2]) / 2;
  x[3] = kept(3, std::sqrt(std::max(variance, 0.0)));
  x[0] = kept(0, sum / (2 * std::numbers::pi * x[3] * x[3]));
  x[4] = kept(4, background);
}

}  // namespace

LearnOptions FitCase::learn_options() const {
  LearnOptions options;
  options.features = features;
  options.noise = noise;
  options.start = start;
  return options;
}

FitStart FitCase::start_on(const Matrix<double>& y) const {
  if (start) return [&y, rule = start](Index fit, VectorRef<double> x) { rule(y.col(fit), x); };
  return [centre = box.centre()](Index, VectorRef<double> x) { x = centre; };
}

std::vector<FitCase> fit_cases() {
  std::vector<FitCase> cases;
  // Gpufit's speed test (Przybylski and others, Scientific Reports 7, 15722, 2017).
  cases.push_back(make_case<GaussianPeak<5, 0>>(
      "gauss5",
      {{450, 550, {}, "amplitude"},
       {1.8, 2.2, {}, "x"},
       {1.8, 2.2, {}, "y"},
       {0.9, 1.1, {}, "width"},
       {9, 11, {}, "background"}},
      Noise::gaussian(2 * std::numbers::pi * 500 / (4.292 * 4.292) / 10)));
  const Box spots{{50, 500, {}, "amplitude"},
                  {-1.5, 1.5, {}, "x"},
                  {-1.5, 1.5, {}, "y"},
                  {0.9, 1.8, {}, "width"},
                  {5, 50, {}, "background"}};
  cases.push_back(make_case<GaussianPeak<11, -5>>(
      "gauss11", spots, Noise::poisson(), [spots](ConstVectorRef<double> y, VectorRef<double> x) {
        start_by_moments<11, -5>(spots, y.data(), x.data());
      }));
  cases.push_back(make_case<T2Relaxation>(
      "t2", {{500, 1500, {}, "amplitude"}, {20, 200, kLog, "T2"}, {0, 100, {}, "offset"}},
      Noise::gaussian(10)));
  cases.push_back(make_case<Lifetimes>("lifetime",
                                       {{100, 1000, kLog, "first amplitude"},
                                        {0.3, 1, kLog, "first lifetime"},
                                        {100, 1000, kLog, "second amplitude"},
                                        {2, 4, kLog, "second lifetime"}},
                                       Noise::poisson()));
  for (const char* noise : {"1e-3", "1e-2", "2e-2"})
    cases.push_back(make_case<Decay>(
        std::string("decay/") + noise,
        {{0.5, 2, {}, "amplitude"}, {0.3, 3, kLog, "rate"}, {-0.5, 0.5, {}, "offset"}},
        Noise::gaussian(std::stod(noise))));
  return cases;
}

FitSamples draw_fits(const FitCase& fit, Index count, double range, std::uint64_t seed) {
  const Index n = fit.box.size();
  FitSamples samples{Matrix<double>(n, count), Matrix<double>(fit.features, count)};
  for (Index i = 0; i < count; ++i) {
    Random random(seed, "fits: sample", static_cast<std::uint64_t>(i));
    do {
      for (Index j = 0; j < n; ++j)
        samples.truth(j, i) = fit.box.from_unit(j, range * random.uniform(-1, 1));
      samples.y.col(i) = values_of(fit, samples.truth.col(i));
    } while (fit.noise.is_poisson() && samples.y.col(i).minCoeff() < 0);
    fit.noise.add(samples.y.col(i), random);
  }
  return samples;
}

Matrix<double> standard_errors(const FitCase& fit, const Matrix<double>& truth) {
  constexpr double least_mean = 1e-3;
  const Index n = fit.box.size();
  Matrix<double> errors(n, truth.cols()), jacobian(fit.features, n);
  const Matrix<double> identity = Matrix<double>::Identity(n, n);
  for (Index i = 0; i < truth.cols(); ++i) {
    fit.h.jacobian()(truth.col(i), jacobian);
    if (fit.noise.is_poisson()) {
      const Matrix<double> mean = values_of(fit, truth.col(i));
      jacobian.array().colwise() /= mean.col(0).array().max(least_mean).sqrt();
    } else if (fit.noise.sigma().size() == 1) {
      jacobian /= fit.noise.sigma()[0];
    } else {
      jacobian.array().colwise() /= fit.noise.sigma().array();
    }
    const Matrix<double> information = jacobian.transpose() * jacobian;
    errors.col(i) = information.ldlt().solve(identity).diagonal().cwiseSqrt();
  }
  return errors;
}

}  // namespace sdm::peers
