#include "experiments/analytic/analytic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/registry.h"
#include "report/plot.h"
#include "sdm/descent/certificate.h"
#include "sdm/descent/train/train.h"

namespace sdm::experiments {
namespace {

/// first:step:last of Matlab.
std::vector<double> range(double first, double step, double last) {
  std::vector<double> values;
  const int count = static_cast<int>(std::lround((last - first) / step));
  for (int i = 0; i <= count; ++i) values.push_back(first + step * i);
  return values;
}

double inverse_erf(double y) {
  double low = -6, high = 6;
  while (true) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    (std::erf(middle) < y ? low : high) = middle;
  }
}

double erf_slope(double x) { return 2 / std::sqrt(std::numbers::pi) * std::exp(-x * x); }

double relative_error(const AnalyticFunction& f, const std::vector<double>& x,
                      const std::vector<double>& y) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double truth = f.inverse(y[i]);
    error += (x[i] - truth) * (x[i] - truth);
    size += truth * truth;
  }
  return std::sqrt(error / size);
}

/// x_0, x_1, ... of one solve of h(x) = y.
std::vector<double> iterates(const Cascade<double>& cascade, double (*h)(double), double x0,
                             double y) {
  std::vector<double> all;
  Vector<double> x = Vector<double>::Constant(1, x0);
  Solver<double>(cascade).solve(
      x, [&](int, const auto& at, auto&& out) { out[0] = h(at[0]) - y; },
      [](int, const auto& at, const auto& delta, auto&& out) { out = at + delta; }, false,
      [&](int, const auto& at, const auto&) { all.push_back(at[0]); });
  all.push_back(x[0]);
  return all;
}

/// A strictly monotone function near its x*, for the generic maps of section 2.2.
struct GenericCase {
  const char* name;
  const char* formula;
  double (*h)(double);
  double x_star, radius;  // the neighbourhood U is x* - radius to x* + radius
};

const GenericCase generic_cases[] = {
    {"generic_sin", "sin x", [](double x) { return std::sin(x); }, 0.3, 1.2},
    {"generic_cube", "x^3", [](double x) { return x * x * x; }, 1.2, 1.5},
    {"generic_decay", "exp(-x)", [](double x) { return std::exp(-x); }, 0.5, 2},
};

Chart run_generic(const GenericCase& c, Results& results) {
  constexpr int kSteps = 30, kStarts = 9;
  // r = sign(h') (2/K - eps) (theorem 1), K measured over the neighbourhood.
  const Vector<double> around = c.x_star + c.radius * Eigen::ArrayXd::LinSpaced(2000, -1, 1);
  const auto h = [&](ConstVectorRef<double> x, VectorRef<double> out) { out[0] = c.h(x[0]); };
  const auto certificate = [&](double map) {
    return certify(Matrix<double>::Constant(1, 1, map), h, Vector<double>::Constant(1, c.x_star),
                   around.transpose());
  };
  const double k = certificate(1).lipschitz;
  const double r = generic_map_1d(c.h, c.x_star, around, 0.2 / k);
  // The same map in every step.
  Cascade<double> generic;
  generic.state_size = 1;
  generic.maps.assign(kSteps, {Matrix<double>::Constant(1, 1, r), Vector<double>::Zero(1)});
  LineChart chart;
  chart.title = fmt::format("{}, r = {:.3f}", c.formula, r);
  chart.x_label = "step";
  chart.y_label = "x";
  chart.markers = chart.legend = false;
  for (int s = 0; s < kStarts; ++s) {
    const double x0 = c.x_star + c.radius * (2.0 * s / (kStarts - 1) - 1);
    Series curve;
    for (const double x : iterates(generic, c.h, x0, c.h(c.x_star))) {
      const auto k = static_cast<int>(curve.x.size());
      results.add(c.name, "generic_map", "error", std::abs(x - c.x_star), "",
                  {{"step", k}, {"start", x0}, {"x", x}});
      curve.x.push_back(k);
      curve.y.push_back(x);
    }
    chart.series.push_back(std::move(curve));
  }
  results.settings["generic_maps"][c.name] = {{"h", c.formula},
                                              {"x_star", c.x_star},
                                              {"radius", c.radius},
                                              {"K", k},
                                              {"r", r},
                                              {"contraction", certificate(r).contraction}};
  return chart;
}

}  // namespace

const std::vector<AnalyticFunction>& analytic_functions() {
  static const std::vector<AnalyticFunction> functions = {
      {"sin", "sin x", [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); },
       [](double x) { return -std::sin(x); },
       [](double y) { return std::asin(std::clamp(y, -1.0, 1.0)); }, range(-1, 0.2, 1),
       range(-1, 0.05, 1)},
      {"cube", "x^3", [](double x) { return x * x * x; }, [](double x) { return 3 * x * x; },
       [](double x) { return 6 * x; }, [](double y) { return std::cbrt(y); }, range(-27, 3, 27),
       range(-27, 0.5, 27)},
      {"erf", "erf x", [](double x) { return std::erf(x); }, erf_slope,
       [](double x) { return -2 * x * erf_slope(x); }, inverse_erf, range(-0.99, 0.11, 0.99),
       range(-0.99, 0.03, 0.99)},
      {"exp", "e^x", [](double x) { return std::exp(x); }, [](double x) { return std::exp(x); },
       [](double x) { return std::exp(x); }, [](double y) { return std::log(y); }, range(1, 3, 28),
       range(1, 0.5, 28)},
  };
  return functions;
}

Cascade<double> train_reversed(const AnalyticFunction& function, double x0, int steps) {
  const auto samples = static_cast<Index>(function.train_y.size());
  Matrix<double> templates(1, samples), targets(1, samples);
  for (Index i = 0; i < samples; ++i) {
    templates(0, i) = function.train_y[static_cast<std::size_t>(i)];
    targets(0, i) = function.inverse(templates(0, i));
  }
  const auto h = [&](ConstVectorRef<double> x, VectorRef<double> out) {
    out[0] = function.h(x[0]);
  };
  TrainOptions options;
  options.stages = steps;
  options.penalty = Penalty::given(0);
  return train(h, Matrix<double>::Constant(1, 1, x0), targets, templates, options).cascade;
}

std::vector<double> sdm_residuals(const AnalyticFunction& function, const Cascade<double>& cascade,
                                  double x0, const std::vector<double>& y) {
  std::vector<std::vector<double>> x(cascade.maps.size() + 1);  // of each step, for every y
  for (const double target : y) {
    const std::vector<double> way = iterates(cascade, function.h, x0, target);
    for (std::size_t k = 0; k < way.size(); ++k) x[k].push_back(way[k]);
  }
  std::vector<double> curve;
  for (const std::vector<double>& reached : x)
    curve.push_back(relative_error(function, reached, y));
  return curve;
}

double newton_step(const AnalyticFunction& function, double x, double y) {
  const double error = function.h(x) - y, slope = function.first(x);
  const double curvature = slope * slope + function.second(x) * error;  // f''/2
  return curvature == 0 ? x : x - slope * error / curvature;
}

std::vector<double> newton_residuals(const AnalyticFunction& function, int steps, double x0,
                                     const std::vector<double>& y) {
  std::vector<double> x(y.size(), x0), curve = {relative_error(function, x, y)};
  for (int k = 0; k < steps; ++k) {
    for (std::size_t i = 0; i < y.size(); ++i) x[i] = newton_step(function, x[i], y[i]);
    curve.push_back(relative_error(function, x, y));
  }
  return curve;
}

Results run_analytic(const ExperimentContext& context) {
  constexpr int kSteps = 10;
  constexpr double kStart = 0;
  Results results("analytic");
  results.settings["x0"] = kStart;
  results.settings["steps"] = kSteps;

  std::vector<Chart> generic, reversed;
  for (const GenericCase& c : generic_cases) generic.push_back(run_generic(c, results));

  std::vector<std::vector<std::string>> table = {{"residual after step"}};
  for (int k = 0; k <= kSteps; ++k) table[0].push_back(std::to_string(k));
  for (const AnalyticFunction& f : analytic_functions()) {
    const Cascade<double> cascade = train_reversed(f, kStart, kSteps);
    LineChart chart;
    chart.title = "h(x) = " + f.formula;
    chart.x_label = "step";
    chart.y_label = "|x - x*| / |x*|";
    for (const char* method : {"sdm", "newton"}) {
      const std::vector<double> curve = std::string(method) == "sdm"
                                            ? sdm_residuals(f, cascade, kStart, f.test_y)
                                            : newton_residuals(f, kSteps, kStart, f.test_y);
      Series series{method, {}, curve};
      table.push_back({f.name + " " + method});
      for (int k = 0; k <= kSteps; ++k) {
        const double value = curve[static_cast<std::size_t>(k)];
        results.add(f.name, method, "residual", value, "", {{"step", k}});
        series.x.push_back(k);
        table.back().push_back(fmt::format("{:.2g}", value));
      }
      chart.series.push_back(std::move(series));
    }
    reversed.push_back(std::move(chart));
  }
  results.exhibits = {
      {"reversed_sdm", "Reversed SDM against Newton's method",
       "Section 6.1: SDM needs as many iterations as Newton's method; "
       "Newton stays at 1 on x^3 (it starts on a saddle point) and diverges on e^x (the second "
       "derivative is not positive); where Newton converges it ends more accurate.",
       "The same set-up: start 0, no bias, trained on the coarse and tested on the fine range. The "
       "residual is over all test points.",
       Figure{std::move(reversed), 2}},
      {"residuals", "The same as numbers", "", "", Table{table}},
      {"generic_maps", "A generic map brings every start to the same x*",
       "Section 2.2 and theorem 1: for a monotone h any r with |r| < 2/K and the "
       "sign of h' is a generic descent map.",
       "r = sign(h') (2/K - 0.2/K), with K measured over the neighbourhood; nine starts each.",
       Figure{std::move(generic), 3}}};
  const auto last = [&](const char* name, const char* method) {
    return fmt::format("{:.2g}", results.find(name, method, "residual", "step", kSteps)->value);
  };
  results.claims = {
      {"Scalar functions: converges where Newton does not (x^3, e^x; residual after 10 steps)",
       "SDM converges; Newton stuck at 1 and divergent",
       fmt::format("{} and {}", last("cube", "sdm"), last("exp", "sdm")),
       fmt::format("Newton {} and {}", last("cube", "newton"), last("exp", "newton"))},
      {"Scalar functions: Newton ends more accurate where it converges (sin, erf)",
       "yes, as SDM's map is generic",
       fmt::format("{} and {}", last("sin", "sdm"), last("erf", "sdm")),
       fmt::format("Newton {} and {}", last("sin", "newton"), last("erf", "newton"))}};
  context.say(format_table(table));
  return results;
}

}  // namespace sdm::experiments
