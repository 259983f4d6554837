// A user's program: solves sin(x) = y with a cascade that it trains (CONSUMER_TRAINS) or, where
// only the runtime is linked, writes down itself.
#include <cmath>
#include <cstdio>

#include "sdm/descent/solve.h"
#ifdef CONSUMER_TRAINS
#include "sdm/descent/train/train.h"
#endif

int main() {
  const auto h = [](const auto& x, auto&& out) { out[0] = std::sin(x[0]); };
#ifdef CONSUMER_TRAINS
  const sdm::Matrix<double> targets = Eigen::RowVectorXd::LinSpaced(21, -1, 1);
  const sdm::Matrix<double> templates = targets.array().sin();
  const auto cascade = sdm::train(h, sdm::Vector<double>::Zero(1), targets, templates).cascade;
#else
  sdm::Cascade<double> cascade;
  cascade.state_size = 1;
  for (int stage = 0; stage < 20; ++stage)
    cascade.maps.emplace_back(sdm::Matrix<double>::Constant(1, 1, 1.0),
                              sdm::Vector<double>::Zero(1));
#endif
  const auto solution = sdm::solve(cascade, h, sdm::Vector<double>::Zero(1),
                                   sdm::Vector<double>::Constant(1, std::sin(0.7)));
  std::printf("x = %.4f (expected 0.7): %s\n", solution.x[0],
              solution.summary.brief_report().c_str());
  return std::abs(solution.x[0] - 0.7) < 0.02 ? 0 : 1;
}
