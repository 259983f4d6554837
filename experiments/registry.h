#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "report/page.h"
#include "report/results.h"
#include "sdm/base/error.h"

namespace sdm::experiments {

using namespace report;  // an experiment speaks of series, tables and results all the time

/// What every experiment is given.
struct ExperimentContext {
  /// Results and plots go to output/NAME.
  std::filesystem::path output = "results";
  std::uint64_t seed = 1;
  /// A fraction of the samples: shows that it runs, not what it reaches.
  bool quick = false;
  /// The data folder (find_data); empty: the experiment looks in the usual places.
  std::filesystem::path data;
  /// Where a file is that comes with the program ("face68.sdm"); throws Error if it is nowhere.
  std::function<std::filesystem::path(const std::string& name)> shipped_file;
  /// rigid: a real video in place of the installed ones, and what to follow in it (x, y, width and
  /// height, or x, y of four corners).
  std::string video;
  std::vector<double> box;
  /// Further methods to compare, NAME=FILE; the experiment says what files it takes.
  std::vector<std::string> peers;
  /// 0: all cores.
  int threads = 0;
  /// Text for the person at the terminal; empty: nobody is there.
  std::function<void(const std::string&)> print;
  /// How far the experiment is, 0 to 1, and what it does now.
  std::function<void(double share, const std::string& activity)> progress;
  /// A labelled set of the user's, NAME=WHERE, to run the paper's protocol on instead of the usual
  /// data (faces: TRAIN,TEST; tracking: a folder); empty: none.
  std::string set;

  void say(const std::string& text) const {
    if (print) print(text);
  }
  void report(double share, const std::string& activity) const {
    if (progress) progress(share, activity);
  }
};

struct Experiment : Section {
  Results (*run)(const ExperimentContext&);
  /// About how long it takes on two cores, for the time left of several; and with `quick`.
  double seconds = 60, quick_seconds = 10;
};

/// An experiment cannot run for want of data; the rest of a report can.
class NoData : public Error {
 public:
  using Error::Error;
};

/// Every experiment, in the order `sdm reproduce all` runs them. To add one: write
/// experiments/NAME/NAME.cpp, declare its function below, give it a line in registry.cpp.
const std::vector<Experiment>& all_experiments();

/// Throws Error listing the names there are.
const Experiment& find_experiment(const std::string& name);

/// Runs one experiment and writes its results to context.output/NAME. One that fails has its reason
/// in Results::run and nothing else. Throws Error when the results cannot be written.
Results run_and_write(const Experiment& experiment, const ExperimentContext& context);

/// The folder or file `relative` of the data folder (docs/reproduce.md): in context.data, or
/// context.data itself, where that is given; else in shared/data beside the working folder or
/// beside a few of its parents. Throws NoData that says what is missing and which option names the
/// place.
std::filesystem::path find_data(const ExperimentContext& context, const std::string& relative);

// The experiments.
Results run_analytic(const ExperimentContext& context);
Results run_nist(const ExperimentContext& context);
Results run_detection(const ExperimentContext& context);
Results run_faces(const ExperimentContext& context);
Results run_landmarks(const ExperimentContext& context);
Results run_tracking(const ExperimentContext& context);
Results run_pose(const ExperimentContext& context);
Results run_headpose(const ExperimentContext& context);
Results run_rigid(const ExperimentContext& context);
Results run_fits(const ExperimentContext& context);

}  // namespace sdm::experiments
