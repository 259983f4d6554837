#include <fmt/format.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "apps/sdm/commands.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/output.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/shipped_model.h"
#include "apps/sdm/tell.h"
#include "experiments/registry.h"
#include "report/named_file.h"
#include "report/page.h"
#include "sdm/base/error.h"

namespace sdm::app {
namespace {

struct ReproduceArguments {
  std::vector<std::string> names;
  experiments::ExperimentContext context;
  bool json = false;
};

std::vector<experiments::Experiment> chosen_of(const std::vector<std::string>& names) {
  std::vector<experiments::Experiment> chosen;
  for (const std::string& name : names) {
    if (name == "all") return experiments::all_experiments();
    chosen.push_back(experiments::find_experiment(name));
  }
  return chosen;
}

// No result is written over what an experiment reads.
void check_outputs(const experiments::ExperimentContext& context,
                   const std::vector<experiments::Experiment>& chosen) {
  std::error_code ignored;
  if (std::filesystem::equivalent(context.data, context.output, ignored))
    throw Error(fmt::format("{}: is the data folder too, expected another for the results",
                            context.output.string()));
  Outputs outputs;
  outputs.may_read(context.video);
  for (const std::string& peer : context.peers)
    outputs.may_read(report::named_file(peer).second.string());
  std::istringstream sets(context.set.substr(context.set.find('=') + 1));
  for (std::string file; std::getline(sets, file, ',');) outputs.may_read(file);
  outputs.writes(context.output / "index.html");
  for (const char* name : {"results.json", "results.csv"}) {
    outputs.writes(context.output / name);
    for (const experiments::Experiment& experiment : chosen)
      outputs.writes(context.output / experiment.name / name);
  }
}

void reproduce(const ReproduceArguments& arguments) {
  const std::vector<experiments::Experiment> chosen = chosen_of(arguments.names);
  if (!arguments.context.set.empty() &&
      (chosen.size() != 1 || (chosen[0].name != "faces" && chosen[0].name != "tracking")))
    throw CLI::ValidationError("--set is for faces or for tracking, one of them");
  const auto cost = [&](const experiments::Experiment& experiment) {
    return arguments.context.quick ? experiment.quick_seconds : experiment.seconds;
  };
  check_outputs(arguments.context, chosen);
  double total = 0, done = 0;
  for (const auto& experiment : chosen) total += cost(experiment);

  const std::vector<report::Section> sections(experiments::all_experiments().begin(),
                                              experiments::all_experiments().end());
  Progress progress(chosen.size() == 1 ? chosen[0].name : "reproduce");
  auto all = nlohmann::ordered_json::array();
  std::vector<std::string> failures;
  for (const experiments::Experiment& experiment : chosen) {
    experiments::ExperimentContext context = arguments.context;
    // With --json stdout carries the results alone.
    context.print = [&](const std::string& text) {
      progress.clear();
      say_beside(arguments.json, "{}\n", text);
    };
    context.progress = [&](double share, const std::string& activity) {
      progress.update((done + share * cost(experiment)) / total,
                      chosen.size() == 1 ? activity : experiment.name + " " + activity);
    };
    context.shipped_file = shipped_file;
    context.report(0, "");
    const report::Results results = experiments::run_and_write(experiment, context);
    done += cost(experiment);
    if (results.run.contains("message")) {
      failures.push_back(results.run.at("message").get<std::string>());
      if (chosen.size() > 1) {
        failures.back() = fmt::format("{}: {}", experiment.name, failures.back());
        context.print(failures.back());
      }
    } else {
      context.print(fmt::format("{}: {} rows in {}", experiment.name, results.rows().size(),
                                (context.output / experiment.name / "results.json").string()));
    }
    if (arguments.json) all.push_back(results.json());
    // After each: a stopped run leaves a page.
    report::write_page(sections, context.output, shipped_file_or_none("chart.umd.js"));
  }
  progress.clear();
  if (arguments.json)
    put_text(report::json_text(all.size() == 1 ? all.front() : all));
  else
    say("look at {}\n", (arguments.context.output / "index.html").string());
  if (failures.size() == 1 && chosen.size() == 1) throw Error(failures[0]);
  if (!failures.empty())
    throw Error(fmt::format("{} of {} experiments could not be run:\n  {}", failures.size(),
                            chosen.size(), fmt::join(failures, "\n  ")));
}

}  // namespace

void add_reproduce(CLI::App& app) {
  CLI::App* command = app.add_subcommand("reproduce", "Run the paper's experiments");
  std::string names =
      "Writes DIR/index.html, a page of all that has been run into DIR, results.json and\n"
      "results.csv; and the same numbers and the figures of each experiment to DIR/NAME.\n"
      "An experiment that fails or lacks its data does not stop the others; the exit code is 1 "
      "then.\n\n"
      "Experiments:";
  std::string choices;
  for (const auto& experiment : experiments::all_experiments()) {
    choices += experiment.name + ",";
    names += fmt::format("\n  {:<10} {}", experiment.name, experiment.description);
  }
  command->footer(names + "\n  all        every one of them");

  auto arguments = std::make_shared<ReproduceArguments>();
  command->add_option("NAME", arguments->names, "Experiments to run, or all")
      ->required()
      ->type_name("{" + choices + "all}");
  command->add_option("-o,--output", arguments->context.output, "Folder for the results")
      ->capture_default_str();
  command->add_option("--seed", arguments->context.seed, "Seed of every random draw")
      ->capture_default_str();
  command->add_flag("--quick", arguments->context.quick,
                    "Fewer samples: shows that it runs, not what it reaches");
  command->add_option("--data", arguments->context.data,
                      "Folder with the experiment's data, where it needs any");
  auto* box =
      command
          ->add_option("--box", arguments->context.box,
                       "rigid: what to follow in the video, x,y,width,height or x,y of four "
                       "corners")
          ->delimiter(',');
  auto* video =
      command->add_option("--video", arguments->context.video,
                          "rigid: a video of a flat thing, a folder or pattern of pictures");
  video->needs(box);
  box->needs(video);
  command->add_option("--peer", arguments->context.peers,
                      "faces: another method to compare, NAME=FILE: a shape predictor of dlib "
                      "(.dat), a model (.sdm) or landmarks in any format of annotations");
  command->add_option("--set", arguments->context.set,
                      "The paper's protocol on a labelled set of your own, such as LFW-A&C or "
                      "RU-FACS: faces NAME=TRAIN,TEST, tracking NAME=FOLDER of .pts and frames");
  command->add_option("--threads", arguments->context.threads, "Threads; 0 takes all cores")
      ->check(kNotNegative)
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print the results as JSON on stdout");
  command->callback([arguments] { reproduce(*arguments); });
}

}  // namespace sdm::app
