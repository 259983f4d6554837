#include "sdm/face/train/train_detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/sdm/annotations.h"
#include "apps/sdm/commands.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/output.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/tell.h"
#include "apps/sdm/world.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/data/read_pictures.h"
#include "sdm/face/detector.h"
#include "sdm/image/resample.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

struct DetectorArguments {
  fs::path truth, background, output;
  std::string mirror = "auto";
  bool skip_bad = false, no_gate = false;
  face::DetectorTrainerOptions options;
};

// Pictures with what is to be left out of them.
using Pictures = std::map<fs::path, std::vector<face::Box>>;

face::Box around(const face::Shape& points) {
  const Eigen::AlignedBox2f box = face::bounds(points);
  return {box.min().x(), box.min().y(), box.sizes().x(), box.sizes().y()};
}

// What --background names; without it, the annotated pictures without their annotated objects.
Pictures backgrounds_of(const DetectorArguments& a, const face::Annotations& annotations) {
  Pictures pictures;
  if (a.background.empty()) {
    for (const face::Annotation& one : annotations.faces)
      pictures[annotations.path(one)].push_back(around(one.points));
  } else if (fs::is_directory(a.background)) {
    for (const fs::path& picture : opencv::pictures_below(a.background)) pictures[picture];
  } else {
    for (const auto& [file, boxes] : face::read_boxes(a.background))
      pictures[a.background.parent_path() / file] = boxes;
  }
  if (pictures.empty()) throw Error(fmt::format("{}: no pictures", a.background.string()));
  return pictures;
}

// Reads all files and hands each picture to `take`; tells of those that cannot be read.
void read_all(const DetectorArguments& a, const std::string& what,
              const std::vector<fs::path>& files,
              const std::function<void(std::size_t, image::ByteView)>& take) {
  Progress progress("reading " + what);
  face::PictureWork work;
  work.progress = [&](double share) { progress.update(share); };
  work.in_parallel = [&](std::size_t i, image::ByteView grey, int) { take(i, grey); };
  ThreadPool pool(a.options.threads);
  const std::vector<std::string> failures =
      face::read_pictures(files, opencv::read_grey, pool, work);
  progress.clear();
  for (const std::string& failure : failures) {
    if (failure.empty()) continue;
    if (!a.skip_bad) throw Error(failure);
    tell("skipped: {}\n", failure);
  }
}

// Of one or more items, what this rank has.
template <class Items>
void take_part(Items& items, const World& world) {
  const auto [first, last] = world.part(items.size());
  items = Items(std::next(items.begin(), static_cast<std::ptrdiff_t>(first)),
                std::next(items.begin(), static_cast<std::ptrdiff_t>(last)));
}

// Each rank reads its own pictures; the root tells and writes.
void run(const DetectorArguments& arguments, World& world) {
  DetectorArguments a = arguments;
  a.options.threads = world.threads(a.options.threads);
  a.options.communicator = world.communicator();
  face::DetectorTrainerOptions options = a.options;
  std::vector<face::TrainingFace> faces;
  std::vector<face::Background> backgrounds;
  std::size_t points = 0;
  world.together([&] {
    Outputs outputs;
    if (world.is_root()) {
      outputs.reads(std::vector<fs::path>{a.truth, a.background})
          .writes(a.output, Outputs::Kind::whole);
      if (a.mirror != "auto" && a.mirror != "none") outputs.reads(a.mirror);
    }
    options.gate = !a.no_gate;
    options.validate();
    if (options.name.empty()) options.name = a.output.stem().string();
    if (options.provenance.empty())
      options.provenance = fmt::format("sdm train-detector {}", a.truth.filename().string());
    face::Annotations annotations = face::read_annotations(a.truth, read_options(a.skip_bad));
    points = annotations.ids.size();
    const face::Markup markup = face::markup_of(annotations.ids);
    options.unit = markup.unit;
    if (a.mirror == "auto") {
      options.mirror = markup.mirror;
    } else if (a.mirror != "none") {
      options.mirror = face::read_mirror(a.mirror);
    }

    Pictures pictures = backgrounds_of(a, annotations);
    if (world.is_root()) {
      add_inputs(outputs, annotations);
      for (const auto& [file, boxes] : pictures) outputs.reads(file);
    }
    take_part(pictures, world);
    take_part(annotations.faces, world);
    faces.resize(annotations.faces.size());
    std::vector<fs::path> files;
    for (const face::Annotation& one : annotations.faces) files.push_back(annotations.path(one));
    face::Recipe enough;  // windows are drawn with about this many pixels a unit
    enough.unit = 36;
    read_all(a, a.truth.filename().string(), files, [&](std::size_t i, image::ByteView grey) {
      faces[i] = face::trim(grey, annotations.faces[i].points, {}, enough);
    });
    std::erase_if(faces, [](const face::TrainingFace& one) { return one.truth.cols() == 0; });

    backgrounds.resize(pictures.size());
    files.clear();
    for (const auto& [file, boxes] : pictures) {
      backgrounds[files.size()].objects = boxes;
      files.push_back(file);
    }
    read_all(a, "backgrounds", files, [&](std::size_t i, image::ByteView grey) {
      // No larger than the detector will search it: many of them are in memory at once.
      int factor = 1;
      while (std::max(grey.width, grey.height) / factor > face::DetectorOptions().max_side)
        factor *= 2;
      image::Image<std::uint8_t> copy(grey.width / factor, grey.height / factor);
      image::shrink(grey.crop(0, 0, copy.width() * factor, copy.height() * factor), factor, copy);
      backgrounds[i].picture = std::move(copy);
      for (face::Box& box : backgrounds[i].objects) {
        const auto f = static_cast<float>(factor);
        box = {box.x / f, box.y / f, box.width / f, box.height / f};
      }
    });
    std::erase_if(backgrounds,
                  [](const face::Background& one) { return one.picture.view().empty(); });
  });
  const double all_faces = world.sum(static_cast<double>(faces.size())),
               all_backgrounds = world.sum(static_cast<double>(backgrounds.size()));
  say("{} objects of {} points, {} backgrounds{}\n", all_faces, points, all_backgrounds,
      options.mirror.empty() ? "" : "; mirrored");

  Progress progress("training");
  const auto start = std::chrono::steady_clock::now();
  face::DetectorObserver observer;
  observer.progress = [&](double share, const std::string& activity) {
    progress.update(share, activity);
  };
  const face::TrainedDetector trained = face::train_detector(faces, backgrounds, options, observer);
  progress.clear();
  world.together([&] {
    if (world.is_root()) trained.model.save(a.output);
  });
  if (!world.is_root()) return;
  say("{:<16} {:>8} {:>8} {:>22}\n", "template", "objects", "others", "passed of a million");
  for (const face::TemplateSummary& one : trained.templates)
    say("{:<16} {:>8} {:>8} {:>22.1f}\n", one.name, one.faces, one.others, one.passed);
  say("held-out objects found: {:.2f} % at a score of {:.2f}; a window is {} x {} cells of {:.3f} "
      "units\n",
      100 * trained.recall, trained.model.threshold, trained.model.columns, trained.model.rows,
      trained.model.cell);
  say("wrote {} ({:.0f} kB) in {:.0f} s\n", a.output.string(),
      static_cast<double>(fs::file_size(a.output)) / 1e3,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

void add_train_detector(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "train-detector", "Train a detector, which finds what a landmark model aligns");
  auto a = std::make_shared<DetectorArguments>();
  a->options.name.clear();
  a->options.licence = "as the training data's";
  command->add_option("ANNOTATIONS", a->truth, "Landmarks: .csv, .pts or a folder, .xml, list")
      ->required();
  command->add_option("-o,--output", a->output, "The model file to write")->required();
  command->add_option(
      "--background", a->background,
      "Pictures to learn from what is none: a folder without any, or a CSV of boxes "
      "(file,x,y,w,h) with all of them; else ANNOTATIONS, where every object must be marked");
  command
      ->add_option("--mirror", a->mirror,
                   "auto (known for the 68 points), none, or a file with each point's partner")
      ->capture_default_str();
  command->add_flag("--skip-bad", a->skip_bad, "Go on after bad lines and pictures, telling which");
  const std::string see = "What it sees";
  face::DetectorTrainerOptions& o = a->options;
  command->add_option("--cells", o.cells, "Cells of the longer side of a window")
      ->capture_default_str()
      ->group(see);
  command->add_option("--border", o.border, "Cells on each side around the mean shape")
      ->capture_default_str()
      ->group(see);
  command->add_option("--upright", o.upright, "Degrees that upright objects lean at most")
      ->capture_default_str()
      ->group(see);
  command->add_option("--leans", o.leans, "Degrees, middles of the leaning templates")
      ->delimiter(',')
      ->capture_default_str()
      ->group(see);
  command->add_option("--lean", o.lean, "Degrees that these reach to either side")
      ->capture_default_str()
      ->group(see);
  command->add_flag("--no-gate", a->no_gate, "Scan all templates everywhere")->group(see);
  const std::string learn = "How it learns";
  command->add_option("--views", o.views, "Windows drawn of each object and template")
      ->capture_default_str()
      ->group(learn);
  command->add_option("--windows", o.windows, "Windows drawn from each background")
      ->capture_default_str()
      ->group(learn);
  command->add_option("--rounds", o.rounds, "Rounds of mining false alarms")
      ->capture_default_str()
      ->group(learn);
  command->add_option("--hard", o.hard, "False alarms mined from a background in a round")
      ->capture_default_str()
      ->group(learn);
  command->add_option("--penalty", o.penalty, "Ridge, relative")
      ->capture_default_str()
      ->group(learn);
  command->add_option("--recall", o.recall, "Share of held-out objects that the templates find")
      ->capture_default_str()
      ->group(learn);
  command->add_option("--gate-recall", o.gate_recall, "Share of them that pass the gate")
      ->capture_default_str()
      ->group(learn);
  command->add_option("--seed", o.seed, "Seed of every random draw")->capture_default_str();
  command->add_option("--threads", o.threads, "Threads; 0 takes all cores")
      ->check(kNotNegative)
      ->capture_default_str();
  command->add_option("--name", o.name, "Name in the file; else the file's")->check(kUtf8);
  command->add_option("--provenance", o.provenance, "Where it comes from, in the file")
      ->check(kUtf8);
  command->add_option("--licence", o.licence, "Its licence, in the file")
      ->check(kUtf8)
      ->capture_default_str();
  command->footer(
      "Example:\n  sdm train-detector leaves.csv -o leaf-detector.sdm\n"
      "  sdm detect photo.jpg -m leaf.sdm --detector leaf-detector.sdm");
  command->callback([a] {
    World world;
    world.run([&] { run(*a, world); });
  });
}

}  // namespace sdm::app
