#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/sdm/commands.h"
#include "apps/sdm/progress.h"
#include "experiments/registry.h"

namespace sdm::app {
namespace {

struct Arguments {
  std::vector<std::string> names;
  experiments::ExperimentContext context;
  bool json = false;
};

void reproduce(const Arguments& arguments) {
  std::vector<experiments::Experiment> chosen;
  for (const std::string& name : arguments.names) {
    if (name == "all") {
      chosen = experiments::all_experiments();
      break;
    }
    chosen.push_back(experiments::find_experiment(name));
  }
  auto all = nlohmann::ordered_json::array();
  for (const experiments::Experiment& experiment : chosen) {
    Progress progress(experiment.name);
    experiments::ExperimentContext context = arguments.context;
    // With --json stdout carries the results alone.
    context.print = [&](const std::string& text) {
      progress.clear();
      fmt::print(arguments.json ? stderr : stdout, "{}\n", text);
    };
    context.progress = [&](double share, const std::string& activity) {
      progress.update(share, activity);
    };
    const experiments::Results results = experiments::run_and_write(experiment, context);
    progress.clear();
    context.print(fmt::format("{}: {} rows in {}", experiment.name, results.rows().size(),
                              (context.output / experiment.name / "results.json").string()));
    if (arguments.json) all.push_back(results.json());
  }
  if (arguments.json) fmt::print("{}\n", (all.size() == 1 ? all.front() : all).dump(1));
}

}  // namespace

void add_reproduce(CLI::App& app) {
  CLI::App* command = app.add_subcommand("reproduce", "Run the paper's experiments");
  std::string names = "Experiments, writing DIR/NAME/results.json, results.csv and plots:";
  for (const auto& experiment : experiments::all_experiments())
    names += fmt::format("\n  {:<10} {}", experiment.name, experiment.description);
  command->footer(names + "\n  all        every one of them");

  auto arguments = std::make_shared<Arguments>();
  command->add_option("NAME", arguments->names, "Experiments to run, or all")->required();
  command->add_option("-o,--output", arguments->context.output, "Folder for the results")
      ->capture_default_str();
  command->add_option("--seed", arguments->context.seed, "Seed of every random draw")
      ->capture_default_str();
  command->add_flag("--quick", arguments->context.quick,
                    "Fewer samples: shows that it runs, not what it reaches");
  command->add_option("--data", arguments->context.data,
                      "Folder with the experiment's data, where it needs any");
  command->add_option("--threads", arguments->context.threads, "Threads; 0 takes all cores")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print the results as JSON on stdout");
  command->callback([arguments] { reproduce(*arguments); });
}

}  // namespace sdm::app
