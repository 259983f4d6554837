#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "apps/sdm/commands.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/output.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/tell.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/file.h"
#include "sdm/pose/object.h"
#include "sdm/pose/train/train_estimator.h"

namespace sdm::app {
namespace {

using namespace sdm::pose;

struct TrainArguments {
  std::string object, output, group;
  Index points = 0;
  double distance = 2000, rotation = 30, translation = 400;
  TrainEstimatorOptions options;
};

void train_pose(const TrainArguments& arguments) {
  Outputs outputs;
  if (arguments.object != "cube") outputs.reads(arguments.object);
  outputs.writes(arguments.output, Outputs::Kind::whole);
  Points3 object =
      arguments.object == "cube" ? cube() : read_object(arguments.object, arguments.group);
  const Index vertices = object.cols();
  std::vector<Index> chosen;
  if (arguments.points > 0) {
    chosen = spread_points(object, arguments.points);
    object = Points3(object(Eigen::all, chosen));
  } else if (vertices > 500) {
    throw Error(
        fmt::format("{} has {} points, expected at most 500: choose some of them with --points N",
                    arguments.object, vertices));
  }
  TrainEstimatorOptions options = arguments.options;
  options.provenance = fmt::format("sdm pose train {}, seed {}", arguments.object, options.seed);
  options.range.centre.translation = {0, 0, arguments.distance};
  options.range.rotation_degrees.setConstant(arguments.rotation);
  options.range.translation.setConstant(arguments.translation);

  Progress progress("pose train");
  const EstimatorTraining training = train_estimator(object, options, [&](int done, int all) {
    progress.update(static_cast<double>(done) / all, fmt::format("cell {} of {}", done, all));
  });
  progress.clear();
  training.estimator.save(arguments.output);

  double before = 0, after = 0;
  for (const TrainSummary& cell : training.cells) {
    before += cell.stages.front().error_before / static_cast<double>(training.cells.size());
    after += cell.stages.back().error_after / static_cast<double>(training.cells.size());
  }
  say("{}: {} points, {} cell(s) of {} stages; training error {:.2f} -> {:.2f} degrees\n",
      arguments.output, object.cols(), training.cells.size(), training.estimator.stages(), before,
      after);
  if (!chosen.empty())
    say("chosen of {} points, as numbers from 0: {}\n", vertices, fmt::join(chosen, " "));
}

/// Rows of image points: u and v of every point, an empty cell or "nan" where it was not seen. One
/// heading line, without a number in it, may come first.
std::vector<Points2> read_images(const std::string& path, Index points) {
  const TextLines file = io::read_lines(path);
  std::vector<Points2> images;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (file.lines[i].empty() || file.lines[i].starts_with('#')) continue;
    std::vector<double> values;
    std::string bad;
    bool any_number = false;
    for (const std::string& cell : split_cells(file.lines[i])) {
      const std::optional<double> value = number_in(cell);
      const bool unseen = cell.empty() || cell == "nan" || cell == "NaN" || cell == "NAN";
      any_number = any_number || value || (unseen && !cell.empty());
      if (!value && !unseen) bad = cell;
      values.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    if (!bad.empty() && i == 0 && !any_number) continue;  // the heading
    if (!bad.empty()) file.fail(i, fmt::format("\"{}\", expected a number or nothing", bad));
    if (static_cast<Index>(values.size()) != 2 * points)
      file.fail(i, fmt::format("{} numbers, expected {}: u and v of {} points", values.size(),
                               2 * points, points));
    images.push_back(Eigen::Map<const Points2>(values.data(), 2, points));
  }
  if (images.empty()) throw Error(fmt::format("{}: no image points", path));
  return images;
}

void estimate_poses(const std::string& model, const std::string& points,
                    const RefineOptions& refine, const std::string& format,
                    const std::string& output) {
  Outputs().reads(model).reads(points).writes(output);
  const Estimator estimator = Estimator::load(model);
  const std::vector<Points2> images = read_images(points, estimator.object().cols());
  std::string csv =
      "image,qw,qx,qy,qz,tx,ty,tz,euler_x_deg,euler_y_deg,euler_z_deg,reprojection_px,points\n";
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < images.size(); ++i) {
    Estimate found;
    try {
      found = estimator.estimate(images[i], refine);
    } catch (const Error& error) {
      throw Error(fmt::format("{}, image {}: {}", points, i, error.what()));
    }
    const Rotation& q = found.pose.rotation;
    const Eigen::Vector3d t = found.pose.translation;
    const Eigen::Vector3d euler = to_euler(q) * 180 / std::numbers::pi;
    csv += fmt::format(
        "{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.6f},{:.6f},{:.6f},{:.6f},{}\n", i,
        q.w(), q.x(), q.y(), q.z(), t.x(), t.y(), t.z(), euler.x(), euler.y(), euler.z(),
        found.reprojection_error, found.points);
    json.push_back({{"image", i},
                    {"quaternion_wxyz", {q.w(), q.x(), q.y(), q.z()}},
                    {"translation", {t.x(), t.y(), t.z()}},
                    {"euler_xyz_deg", {euler.x(), euler.y(), euler.z()}},
                    {"reprojection_px", found.reprojection_error},
                    {"points", found.points}});
  }
  const std::string text = format == "csv" ? csv : json.dump(2) + "\n";
  if (output.empty()) {
    put_text(text);
    return;
  }
  io::write_text(output, text);
}

void add_camera(CLI::App& command, Camera& camera) {
  command.add_option("--fx", camera.fx, "Focal length in pixels, horizontal")
      ->capture_default_str();
  command.add_option("--fy", camera.fy, "Focal length in pixels, vertical")->capture_default_str();
  command.add_option("--cx", camera.cx, "Principal point, horizontal")->capture_default_str();
  command.add_option("--cy", camera.cy, "Principal point, vertical")->capture_default_str();
}

}  // namespace

void add_pose(CLI::App& app) {
  CLI::App* pose = app.add_subcommand("pose", "Learn and find the 3D pose of a rigid object");
  pose->require_subcommand(1);

  CLI::App* train = pose->add_subcommand("train", "Learn an estimator for an object");
  auto a = std::make_shared<TrainArguments>();
  train
      ->add_option("OBJECT", a->object,
                   "An .obj file, a text file of X,Y,Z lines, or \"cube\" (200 mm)")
      ->required();
  train->add_option("-o,--output", a->output, "The model file to write")->required();
  train->add_option("--group", a->group, "Only the vertices of this OBJ group");
  train->add_option("--points", a->points, "Take this many points, spread over the object")
      ->check(kNotNegative);
  train->add_option("--distance", a->distance, "Depth of the middle of the range, in object units")
      ->capture_default_str();
  train->add_option("--rotation", a->rotation, "Largest Euler angle, degrees")
      ->capture_default_str();
  train->add_option("--translation", a->translation, "Largest translation, in object units")
      ->capture_default_str();
  train->add_option("--noise", a->options.noise_pixels, "Noise of the image points, pixels")
      ->capture_default_str();
  train->add_option("--stages", a->options.stages, "Maps in a cascade")->capture_default_str();
  train->add_option("--cells", a->options.cells, "Cells along a rotation axis; 0 chooses")
      ->capture_default_str();
  train->add_option("--samples", a->options.samples, "Training poses of a cell")
      ->capture_default_str();
  train->add_option("--seed", a->options.seed, "Draws the poses and the noise")
      ->capture_default_str();
  train->add_option("--threads", a->options.threads, "0: all cores")->capture_default_str();
  add_camera(*train, a->options.camera);
  train->callback([a] { train_pose(*a); });

  CLI::App* estimate = pose->add_subcommand("estimate", "Find poses from image points");
  struct EstimateArguments {
    std::string model, points, format = "json", output;
    RefineOptions refine;
  };
  auto b = std::make_shared<EstimateArguments>();
  estimate->add_option("MODEL", b->model, "A model written by sdm pose train")->required();
  estimate
      ->add_option("POINTS", b->points,
                   "CSV, an image a row: u0,v0,u1,v1,... in pixels, empty where a point is unseen")
      ->required();
  estimate->add_option("--format", b->format, "json or csv")
      ->check(CLI::IsMember({"json", "csv"}))
      ->capture_default_str();
  estimate->add_option("-o,--output", b->output, "Write here in place of the terminal");
  estimate->add_option("--refine", b->refine.steps, "Gauss-Newton steps after the descent")
      ->capture_default_str();
  estimate
      ->add_option("--outliers", b->refine.outlier_pixels,
                   "Set points aside that are this many pixels off; 0 trusts all")
      ->capture_default_str();
  estimate->callback([b] { estimate_poses(b->model, b->points, b->refine, b->format, b->output); });
}

}  // namespace sdm::app
