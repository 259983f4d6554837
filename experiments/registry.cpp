#include "experiments/registry.h"

#include <fmt/format.h>

#include "sdm/error.h"

namespace sdm::experiments {

const std::vector<Experiment>& all_experiments() {
  static const std::vector<Experiment> experiments = {
      {"analytic", "generic maps and reversed SDM against Newton on scalar functions",
       run_analytic},
      {"nist", "the 27 NIST StRD regression problems: SDM, SDM + refine, Ceres", run_nist},
      {"pose", "3D pose: SDM against POSIT and OpenCV's solvePnP, narrow and wide ranges",
       run_pose},
      {"headpose", "head pose of labelled faces: the learned 3D shape against SQPnP with a mesh's",
       run_headpose},
      {"rigid", "template tracking: SDM against Lucas-Kanade and ECC, and how often each converges",
       run_rigid},
  };
  return experiments;
}

const Experiment& find_experiment(const std::string& name) {
  std::string names;
  for (const Experiment& experiment : all_experiments()) {
    if (experiment.name == name) return experiment;
    names += (names.empty() ? "" : ", ") + experiment.name;
  }
  throw Error(fmt::format("there is no experiment \"{}\", expected one of: {}", name, names));
}

Results run_and_write(const Experiment& experiment, const ExperimentContext& context) {
  Results results = experiment.run(context);
  results.settings["seed"] = context.seed;
  results.settings["quick"] = context.quick;
  results.write(context.output);
  return results;
}

std::filesystem::path find_data(const ExperimentContext& context, const std::string& relative) {
  namespace fs = std::filesystem;
  if (!context.data.empty()) {
    for (const fs::path& candidate : {context.data / relative, context.data})
      if (fs::exists(candidate)) return candidate;
    throw Error(fmt::format("no data at {}", context.data.string()));
  }
  fs::path folder = fs::current_path();
  for (int up = 0; up < 4; ++up, folder = folder.parent_path())
    for (const char* place : {"shared/data", "../shared/data"})
      if (fs::exists(folder / place / relative))
        return fs::weakly_canonical(folder / place / relative);
  throw Error(fmt::format(
      "no folder ../shared/data/{} here or in the folders above; name the place with --data DIR",
      relative));
}

}  // namespace sdm::experiments
