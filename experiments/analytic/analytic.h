#pragma once

#include <string>
#include <vector>

#include "sdm/descent/cascade.h"

namespace sdm::experiments {

/// A scalar function of the paper's section 6.1 with what Newton and the set-up need.
struct AnalyticFunction {
  std::string name, formula;
  double (*h)(double);
  double (*first)(double);   // h'
  double (*second)(double);  // h''
  double (*inverse)(double);
  std::vector<double> train_y, test_y;  // the ranges of the authors' poster
};

/// sin, cube, erf, exp.
const std::vector<AnalyticFunction>& analytic_functions();

/// Reversed SDM from x0: plain least squares without bias.
Cascade<double> train_reversed(const AnalyticFunction& function, double x0, int steps);

/// |x_k - x*| / |x*| over all y, for k = 0 to the number of steps.
std::vector<double> sdm_residuals(const AnalyticFunction& function, const Cascade<double>& cascade,
                                  double x0, const std::vector<double>& y);
std::vector<double> newton_residuals(const AnalyticFunction& function, int steps, double x0,
                                     const std::vector<double>& y);

/// One step of Newton's method on f(x) = (h(x) - y)^2. Stays where f'' is zero.
double newton_step(const AnalyticFunction& function, double x, double y);

}  // namespace sdm::experiments
