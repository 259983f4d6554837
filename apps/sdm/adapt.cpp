#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/sdm/annotations.h"
#include "apps/sdm/commands.h"
#include "apps/sdm/output.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/shipped_model.h"
#include "apps/sdm/tell.h"
#include "sdm/base/error.h"
#include "sdm/face/adapter.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/train/adaptation_learner.h"
#include "sdm/face/train/trial.h"
#include "sdm/io/file.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

struct AdaptArguments {
  fs::path model, state, output, frames, learn;
  std::vector<fs::path> images, points;
  face::AdapterOptions options;
};

struct CorrectedFrame {
  fs::path picture;
  face::Shape points;
  fs::path file;  // the points', and what they are called there
  std::vector<std::string> names;
};

std::vector<CorrectedFrame> corrected_frames(const AdaptArguments& a) {
  if (a.images.size() != a.points.size())
    throw CLI::ValidationError(fmt::format("{} --image and {} --points, expected one for the other",
                                           a.images.size(), a.points.size()));
  std::vector<CorrectedFrame> frames;
  for (std::size_t i = 0; i < a.images.size(); ++i) {
    const face::Annotations read = face::read_annotations(a.points[i], read_options(false));
    if (read.faces.size() != 1)
      throw Error(fmt::format("{}: {} faces, expected the one of {}", a.points[i].string(),
                              read.faces.size(), a.images[i].string()));
    frames.push_back(
        {a.images[i], read.faces.front().points, a.points[i], face::point_names(read)});
  }
  if (!a.frames.empty()) {
    const face::Annotations read = face::read_annotations(a.frames, read_options(false));
    for (const face::Annotation& one : read.faces)
      frames.push_back({read.path(one), one.points, a.frames, face::point_names(read)});
  }
  if (frames.empty())
    throw CLI::ValidationError(
        "adapt needs a corrected frame: name one with --image and --points, or several with "
        "--frames");
  return frames;
}

// The share of the face's unit by which the model misses a frame, started where the face is.
double error_of(const face::Model& model, image::ByteView grey, const face::Shape& truth) {
  const face::Similarity frame = face::fit_similarity(model.mean, truth);
  const face::Shape found = face::Aligner(model).align_from(grey, frame).points;
  return face::unit_error(found, truth, model.mean);
}

// Both files or none, as nearly as two renames allow: a model without its own state could not learn
// further.
void write(const fs::path& path, const face::Model& model, const face::Adaptation& state) {
  const fs::path state_path = face::Adaptation::beside(path);
  fs::path new_model = path, new_state = state_path;
  new_model += ".new";
  new_state += ".new";
  try {
    model.save(new_model);
    state.save(new_state);
    fs::rename(new_state, state_path);
    fs::rename(new_model, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(new_model, ignored);
    fs::remove(new_state, ignored);
    throw;
  }
  say("wrote {} and {} ({:.0f} kB)\n", path.string(), state_path.string(),
      static_cast<double>(fs::file_size(state_path)) / 1e3);
}

void adapt(const AdaptArguments& a) {
  if (a.output.empty()) throw CLI::ValidationError("adapt needs -o, the adapted model to write");
  const std::vector<CorrectedFrame> frames = corrected_frames(a);
  a.options.validate();
  const fs::path state_path = a.state.empty() ? face::Adaptation::beside(a.model) : a.state;
  const fs::path new_state_path = face::Adaptation::beside(a.output);
  Outputs outputs;
  for (const CorrectedFrame& frame : frames)
    outputs.reads(std::vector<fs::path>{frame.picture, frame.file});
  // The model itself and its state may be replaced: it goes on learning.
  std::error_code ignored;
  if (!fs::equivalent(a.model, a.output, ignored)) outputs.reads(a.model);
  if (!fs::equivalent(state_path, new_state_path, ignored)) outputs.reads(state_path);
  outputs.writes(a.output, Outputs::Kind::whole).writes(new_state_path, Outputs::Kind::whole);
  if (!fs::exists(state_path))
    throw Error(
        fmt::format("{}: not found; the model's adaptation state is written by `sdm train "
                    "--adaptation`, or by `sdm adapt MODEL --learn` from the training faces",
                    state_path.string()));
  face::Adapter adapter(face::Model::load(a.model), face::Adaptation::load(state_path));
  for (const CorrectedFrame& frame : frames)
    face::require_same_points(frame.names, frame.file.string(), adapter.model().point_names,
                              a.model.string());
  for (const CorrectedFrame& frame : frames) {
    try {
      const auto grey = opencv::read_grey(frame.picture);
      const auto start = std::chrono::steady_clock::now();
      const face::Model before = adapter.model();
      adapter.update(grey, frame.points, a.options);
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      say("{}: error {:.2f} -> {:.2f} % of the face's unit, {:.0f} ms\n",
          frame.picture.filename().string(), 100 * error_of(before, grey, frame.points),
          100 * error_of(adapter.model(), grey, frame.points), 1e3 * seconds);
    } catch (const Error& error) {
      const std::string name = frame.picture.string(), message = error.what();
      throw Error(message.starts_with(name) ? message : name + ": " + message);
    }
  }
  face::Model model = adapter.model();
  model.name = a.output.stem().string();
  model.provenance +=
      fmt::format("; adapted to {} frame{} (weight {}, forgetting {})", frames.size(),
                  frames.size() == 1 ? "" : "s", a.options.weight, a.options.forgetting);
  face::Adaptation state = adapter.state();
  state.name = model.name;
  state.provenance = model.provenance;
  write(a.output, model, state);
}

void learn(const AdaptArguments& a) {
  const face::Model model = face::Model::load(a.model);
  const face::Annotations faces = face::read_annotations(a.learn, read_options(false));
  face::require_same_points(face::point_names(faces), a.learn.string(), model.point_names,
                            a.model.string());
  const fs::path path = a.output.empty() ? face::Adaptation::beside(a.model) : a.output;
  Outputs outputs;
  outputs.reads(std::vector<fs::path>{a.model, a.learn}).writes(path, Outputs::Kind::whole);
  add_inputs(outputs, faces);
  face::AdaptationLearner learner(model);
  Progress progress("learning");
  for (std::size_t i = 0; i < faces.faces.size(); ++i) {
    const face::Annotation& one = faces.faces[i];
    try {
      learner.add(opencv::read_grey(faces.path(one)), one.points);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", one.file, error.what()));
    }
    progress.update(static_cast<double>(i) / static_cast<double>(faces.faces.size()));
  }
  progress.clear();
  learner.finish().save(path);
  say("wrote {} ({:.0f} kB) from {} faces\n", path.string(),
      static_cast<double>(fs::file_size(path)) / 1e3, faces.faces.size());
}

}  // namespace

void add_adapt(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("adapt", "Teach a landmark model one person by corrected frames");
  command->footer(
      "Examples:\n"
      "  sdm adapt face68 --image frame.png --points frame.pts -o person.sdm\n"
      "  sdm adapt person.sdm --frames more.csv -o person.sdm        goes on learning\n"
      "  sdm adapt my.sdm --learn train.csv                          the state of an own model\n\n"
      "A model learns with its adaptation state, MODEL.adaptation.sdm beside it, which stands for\n"
      "the training data; running it needs none. The adapted model gets a state of its own.");
  auto a = std::make_shared<AdaptArguments>();
  command
      ->add_option("MODEL", a->model,
                   "The landmark model to begin with, or the name of a shipped one")
      ->required();
  command->add_option("--image", a->images, "A corrected frame; may be given again");
  command->add_option("--points", a->points, "Its points: .pts, or another file with one face");
  command->add_option("--frames", a->frames, "Many frames: .csv, a folder of .pts, .xml, list");
  command->add_option("-o,--output", a->output, "The adapted model to write, with its state");
  command->add_option("--state", a->state, "The model's state; else MODEL.adaptation.sdm");
  command
      ->add_option("--weight", a->options.weight,
                   "How many training samples each start in a frame counts for")
      ->capture_default_str();
  command
      ->add_option("--forget", a->options.forgetting,
                   "With each frame, what was known before counts this much; 1 forgets nothing")
      ->capture_default_str();
  command->add_option("--starts", a->options.starts, "Starts in each frame")->capture_default_str();
  command->add_option("--seed", a->options.seed, "Seed of every random draw")
      ->capture_default_str();
  command->add_option("--learn", a->learn,
                      "Write the state of MODEL from its training faces, and adapt nothing");
  command->callback([a] {
    a->model = model_file(a->model.string());
    a->learn.empty() ? adapt(*a) : learn(*a);
  });
}

}  // namespace sdm::app
