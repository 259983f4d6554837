#include "experiments/registry.h"

#include <fmt/format.h>

#include <chrono>

#include "report/machine.h"
#include "report/page.h"
#include "sdm/base/error.h"

namespace sdm::experiments {
namespace {

std::string command_of(const Experiment& experiment, const ExperimentContext& context) {
  std::string command = fmt::format("sdm reproduce {} -o {} --seed {}", experiment.name,
                                    context.output.string(), context.seed);
  if (context.quick) command += " --quick";
  if (!context.data.empty()) command += " --data " + context.data.string();
  if (experiment.name == "rigid" && !context.video.empty())
    command += fmt::format(" --video {} --box {}", context.video, fmt::join(context.box, ","));
  if (experiment.name == "faces" || experiment.name == "detection")
    for (const std::string& peer : context.peers) command += fmt::format(" --peer \"{}\"", peer);
  if (!context.set.empty()) command += fmt::format(" --set \"{}\"", context.set);
  return command;
}

}  // namespace

const std::vector<Experiment>& all_experiments() {
  static const std::vector<Experiment> experiments = {
      {{"analytic", "scalar functions: generic maps, and reversed SDM against Newton"},
       run_analytic,
       1,
       1},
      {{"rigid", "rigid tracking: SDM against Lucas-Kanade and ECC, and how often each converges"},
       run_rigid,
       1100,
       60},
      {{"faces",
        "facial feature detection: SDM against one linear stage, IntraFace and dlib on LFPW"},
       run_faces,
       120,
       15},
      {{"detection", "finding faces in whole photographs: SDM against Haar, dlib and YuNet"},
       run_detection,
       400,
       30},
      {{"tracking",
        "facial feature tracking: against detecting in every frame, and adapting to one person"},
       run_tracking,
       240,
       20},
      {{"landmarks", "landmarks of one's own: error against the number of pictures, against dlib"},
       run_landmarks,
       200,
       20},
      {{"pose", "3D pose: SDM against POSIT and OpenCV's solvePnP, narrow and wide ranges"},
       run_pose,
       110,
       13},
      {{"headpose",
        "head pose of labelled faces: the learned 3D shape against SQPnP with a mesh's"},
       run_headpose,
       2,
       1},
      {{"nist", "the 27 NIST StRD regression problems: SDM, SDM + refine, Ceres"},
       run_nist,
       45,
       12},
      {{"fits",
        "curves fitted by the million: SDM, SDM + refine, Ceres and its TinySolver, cminpack"},
       run_fits,
       400,
       12},
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
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const Results::Json began = date_and_time();
  Results results(experiment.name);
  std::string status = "done", message;
  try {
    results = experiment.run(context);
  } catch (const NoData& error) {
    status = "no data", message = error.what();
  } catch (const std::exception& error) {
    status = "failed", message = error.what();
  }
  results.settings["seed"] = context.seed;
  results.settings["quick"] = context.quick;
  results.run["status"] = status;
  if (!message.empty()) results.run["message"] = message;
  results.run["command"] = command_of(experiment, context);
  results.run["began"] = began;
  results.run["seconds"] = std::chrono::duration<double>(Clock::now() - start).count();
  results.run["machine"] = machine();
  results.write(context.output);
  write_section(experiment, results, context.output);
  return results;
}

std::filesystem::path find_data(const ExperimentContext& context, const std::string& relative) {
  namespace fs = std::filesystem;
  if (!context.data.empty()) {
    for (const fs::path& candidate : {context.data / relative, context.data})
      if (fs::exists(candidate)) return candidate;
    throw NoData(fmt::format("no data at {}", context.data.string()));
  }
  fs::path folder = fs::current_path();
  for (int up = 0; up < 4; ++up, folder = folder.parent_path())
    for (const char* place : {"shared/data", "../shared/data"})
      if (fs::exists(folder / place / relative))
        return fs::weakly_canonical(folder / place / relative);
  throw NoData(fmt::format(
      "needs {} of the data folder; name that folder with --data DIR (docs/reproduce.md tells what "
      "it holds)",
      relative));
}

}  // namespace sdm::experiments
