#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/sdm/commands.h"
#include "apps/sdm/faces.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/output.h"
#include "apps/sdm/pose_json.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/shipped_model.h"
#include "apps/sdm/tell.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/read_pictures.h"
#include "sdm/face/tracker.h"
#include "sdm/opencv/draw.h"
#include "sdm/opencv/image.h"
#include "sdm/pose/head_pose.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

struct DetectArguments {
  std::vector<std::string> pictures;
  std::string model, boxes;
  DetectorChoice choice;
  fs::path draw, output;
  bool json = false, pts = false, free = false;
  std::optional<float> min_score;
  int threads = 0;
};

struct Face {
  face::Box box;
  face::Similarity place;
  face::Shape points;
  float score = 0, roll = 0;  // degrees
  Vector<float> visible;
  std::optional<pose::HeadPose> pose;
};

struct Result {
  fs::path file;
  int width = 0, height = 0;
  std::vector<Face> faces;
  std::string error;  // why the picture could not be worked on
};

/// The files named, and every picture of the folders named and below, in order.
std::vector<fs::path> list_pictures(const std::vector<std::string>& names) {
  std::vector<fs::path> pictures;
  for (const std::string& name : names) {
    if (!fs::is_directory(name)) {
      pictures.emplace_back(name);
      continue;
    }
    const std::vector<fs::path> found = opencv::pictures_below(name);
    pictures.insert(pictures.end(), found.begin(), found.end());
  }
  return pictures;
}

// A file for one of the results, named after its picture and unlike those taken: x.jpg, x_2.jpg.
fs::path free_path(const fs::path& folder, const fs::path& picture, const char* extension,
                   std::set<fs::path>& taken) {
  const std::string stem = picture.stem().string();
  fs::path path = folder / (stem + extension);
  for (int i = 2; !taken.insert(path).second; ++i)
    path = folder / fmt::format("{}_{}{}", stem, i, extension);
  return path;
}

// Where each picture with its points goes: OUT itself for one picture if it is named as one.
std::vector<fs::path> drawings(const std::vector<fs::path>& pictures, const fs::path& out) {
  std::vector<fs::path> paths;
  std::set<fs::path> taken;
  const bool one = pictures.size() == 1 && out.has_extension() && !fs::is_directory(out);
  for (const fs::path& picture : pictures)
    paths.push_back(one ? out : free_path(out, picture, ".jpg", taken));
  return paths;
}

void draw(const Result& result, const fs::path& path) {
  cv::Mat picture = opencv::read_colour(result.file);
  for (const Face& face : result.faces) {
    const double size = face.box.width / 110.0;
    cv::rectangle(picture, cv::Rect2d(face.box.x, face.box.y, face.box.width, face.box.height),
                  {255, 160, 0}, std::max(1, int(size)), cv::LINE_AA);
    opencv::draw_points(picture, face.points, {60, 255, 60}, size, face.visible);
  }
  opencv::write_image(path, picture);
}

// Where the .pts files of a picture go.
fs::path pts_folder(const fs::path& picture, const fs::path& output) {
  return output.empty() ? picture.parent_path() : output;
}

// What lies beside a picture may be its true points: that is never written over.
void require_no_pts(const fs::path& pts, const fs::path& picture) {
  const auto folder = [](const fs::path& file) {
    return file.has_parent_path() ? file.parent_path() : fs::path(".");
  };
  std::error_code ignored;
  if (fs::exists(pts, ignored) && fs::equivalent(folder(pts), folder(picture), ignored))
    throw Error(fmt::format("{}: is there already, beside the picture; name another folder with -o",
                            pts.string()));
}

// A .pts file for each face. All first faces come first: so the second of x.jpg does not take the
// name of x_2.jpg's.
void write_pts_files(std::vector<Result>& results, const fs::path& output) {
  std::set<fs::path> taken;
  for (const bool first : {true, false})
    for (Result& result : results)
      for (std::size_t i = 0; i < result.faces.size() && result.error.empty(); ++i) {
        if ((i == 0) != first) continue;
        try {
          const fs::path path =
              free_path(pts_folder(result.file, output), result.file, ".pts", taken);
          require_no_pts(path, result.file);
          face::write_pts(path, result.faces[i].points);
        } catch (const Error& error) {
          result.error = error.what();
        }
      }
}

nlohmann::ordered_json to_json(const Result& result) {
  nlohmann::ordered_json json{{"file", result.file.string()}};
  if (!result.error.empty()) {
    json["error"] = result.error;
    return json;
  }
  json["width"] = result.width;
  json["height"] = result.height;
  json["faces"] = nlohmann::ordered_json::array();
  for (const Face& face : result.faces) {
    auto points = nlohmann::ordered_json::array();
    for (const auto& p : face.points.colwise()) points.push_back({rounded(p.x()), rounded(p.y())});
    nlohmann::ordered_json one{{"box",
                                {rounded(face.box.x), rounded(face.box.y), rounded(face.box.width),
                                 rounded(face.box.height)}},
                               {"score", rounded(face.score)},
                               {"roll", rounded(face.roll)}};
    if (face.pose) one["pose"] = pose_json(*face.pose);
    one["points"] = std::move(points);
    if (face.visible.size() > 0) one["visible"] = rounded(face.visible);
    json["faces"].push_back(std::move(one));
  }
  return json;
}

void print(const Result& result) {
  if (!result.error.empty()) return;
  const std::size_t count = result.faces.size();
  say("{}: {}\n", result.file.string(),
      count == 0   ? "no face"
      : count == 1 ? "1 face"
                   : fmt::format("{} faces", count));
  for (const Face& face : result.faces)
    say("  box {:.0f},{:.0f} {:.0f} x {:.0f}, score {:.2f}{}\n", face.box.x, face.box.y,
        face.box.width, face.box.height, face.score,
        face.pose ? fmt::format(", yaw {:+.0f}, pitch {:+.0f}, roll {:+.0f}", face.pose->yaw,
                                face.pose->pitch, face.pose->roll)
                  : "");
}

// What a thread needs for itself.
struct Worker {
  FaceFinder::Find find;  // empty: boxes are given
  face::Aligner aligner;
};

void detect(const DetectArguments& arguments) {
  const face::Model model = load_face_model(arguments.model, arguments.free);
  const std::optional<pose::HeadPoseEstimator> head = face::head_of(model);
  DetectorChoice choice = arguments.choice;
  // Of a model of whole pictures every picture shows one.
  const float min_score = arguments.min_score.value_or(
      arguments.boxes.empty() && choice.name.empty() && model.convention().detector == kWholePicture
          ? 0.0F
          : 0.5F);
  choice.options.min_score = min_score;
  std::optional<FaceFinder> finder;
  std::optional<face::BoxTable> table;
  if (arguments.boxes.empty()) {
    finder.emplace(model, choice);
  } else {
    table = face::read_box_table(arguments.boxes);
    if (choice.name.empty()) choice.name = detector_of(*table, model);
  }
  const face::BoxConvention convention =
      finder ? finder->convention() : box_convention(model, choice.name, choice.offset);
  const std::vector<fs::path> pictures = list_pictures(arguments.pictures);
  if (pictures.empty()) throw Error("no picture in the folders named");
  const face::Boxes given = table ? table->of(convention.detector) : face::Boxes();
  const std::vector<fs::path> drawn = drawings(pictures, arguments.draw);
  Outputs outputs;
  outputs.reads(pictures).reads(
      std::vector<fs::path>{arguments.boxes, model_file(arguments.model)});
  outputs.may_read(choice.name);
  if (!arguments.draw.empty())
    for (const fs::path& path : drawn) outputs.writes(path);
  if (arguments.pts) {
    std::set<fs::path> taken;
    for (const fs::path& picture : pictures) {
      const fs::path path =
          free_path(pts_folder(picture, arguments.output), picture, ".pts", taken);
      require_no_pts(path, picture);
      outputs.writes(path);
    }
  }

  // Many pictures: a thread each. One picture: OpenCV's detector may use them all.
  ThreadPool pool(pictures.size() == 1 ? 1 : arguments.threads);
  if (pool.threads() > 1) cv::setNumThreads(1);
  std::vector<Worker> workers;
  for (int i = 0; i < pool.threads(); ++i) {
    workers.push_back({finder ? finder->find() : FaceFinder::Find(), face::Aligner(model)});
  }
  const auto boxes_of = [&](const fs::path& file) -> std::vector<face::Box> {
    const fs::path beside = file.lexically_relative(fs::path(arguments.boxes).parent_path());
    for (const fs::path& key : {file, beside, file.filename()})
      if (const auto found = given.find(key.generic_string()); found != given.end())
        return found->second;
    throw Error(fmt::format("{}: no line in {}", file.string(), arguments.boxes));
  };

  std::vector<Result> results(pictures.size());
  Progress progress("detect");
  face::PictureWork work;
  work.progress = [&](double share) { progress.update(share); };
  work.in_parallel = [&](std::size_t i, image::ByteView grey, int thread) {
    Worker& worker = workers[std::size_t(thread)];
    Result& result = results[i];
    result.file = pictures[i];
    result.width = grey.width;
    result.height = grey.height;
    std::vector<FoundFace> found;
    if (worker.find) {
      found = worker.find(grey);
    } else {
      for (const face::Box& box : boxes_of(result.file))
        found.push_back({box, convention.similarity(box)});
    }
    std::stable_sort(found.begin(), found.end(), [](const FoundFace& a, const FoundFace& b) {
      return a.box.width * a.box.height > b.box.width * b.box.height;
    });
    for (const FoundFace& one : found) {
      const face::Alignment& fit = worker.find ? worker.aligner.align_from(grey, one.start)
                                               : worker.aligner.align(grey, one.box, convention);
      if (!(fit.score >= min_score)) continue;
      const face::Similarity place = face::fit_similarity(model.mean, fit.points);
      // What was found twice is one face, the one that fits best; boxes that are given stay.
      const auto is_same = [&](const Face& other) {
        return worker.find && face::same_face(other.place, place);
      };
      if (std::any_of(result.faces.begin(), result.faces.end(), [&](const Face& other) {
            return is_same(other) && other.score >= fit.score;
          }))
        continue;
      std::erase_if(result.faces, is_same);
      result.faces.push_back({one.box, place, fit.points, fit.score,
                              std::atan2(place.b, place.a) * 57.2957795F, fit.visible,
                              face::head_pose(head, fit.points, fit.visible)});
    }
    if (!arguments.draw.empty()) draw(result, drawn[i]);
  };
  const std::vector<std::string> failures =
      face::read_pictures(pictures, opencv::read_grey, pool, work);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].file = pictures[i];
    results[i].error = failures[i];
  }
  progress.clear();
  if (arguments.pts) write_pts_files(results, arguments.output);

  if (arguments.json) {
    // An array with a line for each picture.
    for (std::size_t i = 0; i < results.size(); ++i)
      put_text(fmt::format(
          "{} {}", i == 0 ? "[" : ",\n",
          to_json(results[i]).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
    put_text("]\n");
  } else {
    for (const Result& result : results) print(result);
  }
  std::size_t failed = 0;
  for (const Result& result : results) {
    if (result.error.empty()) continue;
    tell("sdm: {}\n", result.error);
    ++failed;
  }
  if (failed > 0) throw Error(fmt::format("{} of {} pictures failed", failed, results.size()));
}

}  // namespace

void add_detect(CLI::App& app) {
  CLI::App* command = app.add_subcommand("detect", "Find faces and their landmarks in pictures");
  auto arguments = std::make_shared<DetectArguments>();
  command->add_option("IMAGES", arguments->pictures, "Pictures, and folders of pictures")
      ->required();
  command->add_option("-m,--model", arguments->model,
                      "A face model or the name of a shipped one (sdm models); default: face68");
  command->add_flag("--free", arguments->free,
                    "Only models whose licence is free (sdm models), and their detector");
  command->add_option("--detector", arguments->choice.name, kDetectorHelp);
  command->add_option(
      "--boxes", arguments->boxes,
      "Boxes from this CSV (file,x,y,w,h, or the detector's columns) in place of a detector");
  command->add_option("--detector-offset", arguments->choice.offset, kOffsetHelp)
      ->expected(3)
      ->type_name("SCALE DX DY");
  command->add_option("--cascades", arguments->choice.cascades,
                      "Folder with OpenCV's cascade files");
  command
      ->add_option("--min-size", arguments->choice.options.smallest,
                   "Smallest face, pixels: the side of its box, about twice the distance of the "
                   "eyes' outer corners; default: 40, and down to 20 in pictures under 640 px")
      ->check(kPositive);
  command
      ->add_option("--max-side", arguments->choice.options.max_side,
                   "Larger pictures are searched shrunk to this side")
      ->check(kPositive)
      ->capture_default_str();
  command
      ->add_option("--min-score", arguments->min_score,
                   "Leave out what scores less; 0: whatever the score; default: 0.5, and 0 for a "
                   "model of whole pictures")
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag("--json", arguments->json, "Print the results as JSON on stdout");
  command->add_option("--draw", arguments->draw,
                      "Write pictures with the points into this folder (or file, for one picture)");
  auto* pts = command->add_flag("--pts", arguments->pts, "Write an iBUG .pts file for each face");
  command
      ->add_option("-o,--output", arguments->output,
                   "Folder for the .pts files (default: beside the pictures)")
      ->needs(pts);
  command->add_option("--threads", arguments->threads, "Threads; 0 takes all cores")
      ->check(kNotNegative)
      ->capture_default_str();
  command->footer(
      "A picture without a face is a result. One that cannot be read is reported and the rest goes "
      "on; the exit code is then 1.");
  command->callback([arguments] { detect(*arguments); });
}

}  // namespace sdm::app
