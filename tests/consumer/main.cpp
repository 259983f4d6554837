// A user's program: solves sin(x) = y with a cascade and a learned solver that it trains
// (CONSUMER_TRAINS) or, where only the runtime is linked, writes down itself.
#include <cmath>
#include <cstdio>

#include "sdm/descent/learned.h"
#include "sdm/descent/solve.h"
#ifdef CONSUMER_TRAINS
#include "sdm/descent/train/learn.h"
#include "sdm/descent/train/train.h"
#endif

int main() {
  const auto h = [](const auto& x, auto&& out) { out[0] = std::sin(x[0]); };
#ifdef CONSUMER_TRAINS
  const sdm::Matrix<double> targets = Eigen::RowVectorXd::LinSpaced(21, -1, 1);
  const sdm::Matrix<double> templates = targets.array().sin();
  const auto cascade = sdm::train(h, sdm::Vector<double>::Zero(1), targets, templates).cascade;
  sdm::LearnOptions options;
  options.features = 1;
  options.samples = options.calibration = 500;
  const sdm::Learned learned = sdm::learn(h, sdm::Box{{-1, 1}}, options);
#else
  sdm::Cascade<double> cascade;
  cascade.state_size = 1;
  for (int stage = 0; stage < 20; ++stage)
    cascade.maps.emplace_back(sdm::Matrix<double>::Constant(1, 1, 1.0),
                              sdm::Vector<double>::Zero(1));
  sdm::LearnedModel model;
  model.box = sdm::Box{{-1, 1}};
  model.features = 1;
  model.weight = sdm::Vector<double>::Ones(1);
  model.components = sdm::Matrix<double>::Ones(1, 1);
  model.start = model.at_start = sdm::Vector<double>::Zero(1);
  sdm::LearnedStage stage;
  stage.maps.emplace_back(Eigen::RowVector2d(-1, 0));
  model.stages.assign(20, stage);
  model.gate.residual = model.gate.step = model.gate.overshoot = 1;
  model.gate.log_scales = sdm::Matrix<double>::Zero(2, 1);
  model.example_states = model.example_components = sdm::Matrix<double>(1, 0);
  model.record.error = model.record.median = sdm::Vector<double>::Zero(1);
  const sdm::Learned learned(model, h);
#endif
  const sdm::Answer answer = learned.solve(sdm::Vector<double>::Constant(1, std::sin(0.7)));
  std::printf("x = %.4f: %s\n", answer.x[0], answer.message().c_str());
  if (!answer.trusted() || std::abs(answer.x[0] - 0.7) > 0.02) return 1;
  const auto solution = sdm::solve(cascade, h, sdm::Vector<double>::Zero(1),
                                   sdm::Vector<double>::Constant(1, std::sin(0.7)));
  std::printf("x = %.4f (expected 0.7): %s\n", solution.x[0],
              solution.summary.brief_report().c_str());
  return std::abs(solution.x[0] - 0.7) < 0.02 ? 0 : 1;
}
