#include "experiments/faces/faces_turned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sdm/base/thread_pool.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/train/turned_face.h"
#include "sdm/opencv/image.h"

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;

const std::vector<double> kYaws = {0, 15, 30, 45, 60, 70};
// Of both sides of such a face enough is seen to turn it either way.
constexpr double kLooksAhead = 15;
// Real faces are grouped by their own yaw from these angles on.
const std::vector<double> kGroups = {0, 10, 20, 30};
constexpr std::size_t kQuickStride = 20;

struct MeanError {
  double sum = 0, count = 0;

  void add(double value) {
    sum += value;
    ++count;
  }
  double mean() const { return sum / count; }
  std::string text(double factor) const {
    return count > 0 ? fmt::format("{:.2f}", factor * mean()) : "-";
  }
};

/// Mean distance over the unit: of the points that are seen, and of all. And how far the yaw that
/// all of them tell is off, in degrees.
struct PointErrors {
  MeanError visible, all, yaw;
};

/// The errors of each method at each angle.
using ErrorsByYaw = std::vector<std::vector<PointErrors>>;

void add_point_errors(const face::Shape& found, const face::TurnedFace& truth, double unit,
                      PointErrors& errors) {
  double visible = 0, all = 0, seen = 0;
  for (Index p = 0; p < found.cols(); ++p) {
    const auto distance = double((found.col(p) - truth.points.col(p)).norm());
    all += distance;
    if (truth.hidden[std::size_t(p)]) continue;
    visible += distance;
    ++seen;
  }
  errors.all.add(all / double(found.cols()) / unit);
  if (seen > 0) errors.visible.add(visible / seen / unit);
}

Table by_yaw(const std::string& row_name, const std::vector<TurnedMethod>& methods,
             const ErrorsByYaw& errors, const std::vector<std::string>& heading,
             const std::vector<double>& angles, bool visible_too, Results& results) {
  Table table{{{"method"}}};
  table.lines[0].insert(table.lines[0].end(), heading.begin(), heading.end());
  for (std::size_t m = 0; m < methods.size(); ++m)
    for (const bool all : {false, true}) {
      if (!all && !visible_too) continue;
      const std::string& name = methods[m].method.name;
      std::vector<std::string> line = {
          visible_too ? fmt::format("{}, {} points", name, all ? "all" : "visible") : name};
      for (std::size_t k = 0; k < angles.size(); ++k) {
        const MeanError& error = all ? errors[m][k].all : errors[m][k].visible;
        line.push_back(error.text(100));
        if (error.count > 0)
          results.add(row_name, name, all ? "mean_percent" : "visible_mean_percent",
                      100 * error.mean(), "%", {{"yaw", angles[k]}});
      }
      table.lines.push_back(std::move(line));
    }
  return table;
}

Table yaw_errors(const std::vector<TurnedMethod>& methods, const ErrorsByYaw& errors,
                 Results& results) {
  Table table{{{"method"}}};
  for (const double yaw : kYaws) table.lines[0].push_back(fmt::format("{:.0f} deg", yaw));
  for (std::size_t m = 0; m < methods.size(); ++m) {
    std::vector<std::string> line = {methods[m].method.name};
    for (std::size_t k = 0; k < kYaws.size(); ++k) {
      const MeanError& error = errors[m][k].yaw;
      line.push_back(error.text(1));
      if (error.count > 0)
        results.add("turned", methods[m].method.name, "yaw_mae_deg", error.mean(), "deg",
                    {{"yaw", kYaws[k]}});
    }
    table.lines.push_back(std::move(line));
  }
  return table;
}

}  // namespace

void measure_turned(const ExperimentContext& context, const fs::path& folder,
                    const face::Model& model, const std::vector<TurnedMethod>& methods,
                    Results& results) {
  const fs::path file = folder / "dev.csv", boxes_file = folder / "dev_boxes.csv";
  if (!fs::exists(file) || !fs::exists(boxes_file))
    return context.say("turned faces left out: there is no " +
                       (fs::exists(file) ? boxes_file : file).string());
  const face::Annotations truth = face::read_annotations(file);
  const face::Markup markup = face::ibug(68);
  const face::FaceTurner turner(model.shape3d, model.shape3d_weights, markup.region("jaw"));
  const auto [left, right] = markup.unit;
  const auto unit_in_space = double((model.shape3d.col(left) - model.shape3d.col(right)).norm());
  std::vector<std::string> detectors;
  for (const TurnedMethod& one : methods) detectors.push_back(one.detector);
  const auto boxes = face::boxes_of(truth, face::read_box_table(boxes_file), detectors);

  ErrorsByYaw drawn(methods.size(), std::vector<PointErrors>(kYaws.size())),
      real(methods.size(), std::vector<PointErrors>(kGroups.size()));
  std::vector<int> in_group(kGroups.size(), 0);
  int ahead = 0;
  ThreadPool pool(context.threads);
  for (std::size_t i = 0; i < truth.faces.size(); i += context.quick ? kQuickStride : 1) {
    context.report(0.2, "turned faces");
    // All methods on the same faces.
    if (std::any_of(boxes[i].begin(), boxes[i].end(),
                    [](const face::Box& box) { return !(box.width > 0); }))
      continue;
    const face::Shape& points = truth.faces[i].points;
    const auto picture = opencv::read_grey(truth.path(truth.faces[i]));
    const pose::HeadPose head = turner.pose(points);
    const double unit = head.scale * unit_in_space;
    const auto run = [&](const face::TurnedFace& face, image::ByteView grey, double yaw,
                         std::size_t k, ErrorsByYaw& errors) {
      for (std::size_t m = 0; m < methods.size(); ++m) {
        const face::Shape found =
            methods[m].method.find(grey, face::moved(boxes[i][m], points, face.points));
        add_point_errors(found, face, unit, errors[m][k]);
        errors[m][k].yaw.add(std::abs(turner.pose(found).yaw - yaw));
      }
    };
    const auto group = std::size_t(
        std::upper_bound(kGroups.begin(), kGroups.end(), std::abs(head.yaw)) - kGroups.begin() - 1);
    ++in_group[group];
    run({{}, points, std::vector<bool>(std::size_t(points.cols()), false)}, picture, head.yaw,
        group, real);
    if (std::abs(head.yaw) > kLooksAhead) continue;
    ++ahead;
    // Even numbers turn to the right, odd ones to the left; straight ahead both are the same.
    std::vector<face::TurnedFace> turned(2 * kYaws.size());
    const auto yaw_of = [&](std::size_t k) { return k % 2 == 0 ? kYaws[k / 2] : -kYaws[k / 2]; };
    pool.run(Index(turned.size()) - 1, [&](Index t, int) {
      const std::size_t k = std::size_t(t) + 1;
      turned[k] = turner.turn(picture, points, yaw_of(k) - head.yaw, 0);
    });
    for (std::size_t k = 1; k < turned.size(); ++k)
      run(turned[k], turned[k].picture, yaw_of(k), k / 2, drawn);
  }

  std::vector<std::string> heading, groups;
  for (const double yaw : kYaws) heading.push_back(fmt::format("{:.0f} deg: %", yaw));
  for (std::size_t k = 0; k < kGroups.size(); ++k)
    groups.push_back(
        k + 1 < kGroups.size()
            ? fmt::format("{:.0f}-{:.0f} deg ({}): %", kGroups[k], kGroups[k + 1], in_group[k])
            : fmt::format("{:.0f} deg and more ({}): %", kGroups[k], in_group[k]));
  const Table turned_table = by_yaw("turned", methods, drawn, heading, kYaws, true, results),
              real_table = by_yaw("dev_by_yaw", methods, real, groups, kGroups, false, results),
              pose_table = yaw_errors(methods, drawn, results);
  context.say("turned faces\n" + format_table(turned_table.lines));
  context.say("their yaw, from the points, off by degrees\n" + format_table(pose_table.lines));
  context.say("dev faces by yaw\n" + format_table(real_table.lines));
  const std::string unit =
      "Errors are in percent of the outer eye corners' distance in space: that of the learned "
      "shape at the scale of the face's pose, which does not shrink as the face turns.";
  results.exhibits.push_back(
      {"turned", "Error by yaw, drawn", "",
       fmt::format("{} faces of 300-W kept from training (dev.csv) that look ahead within {:.0f} "
                   "degrees, drawn turned to a yaw of so many degrees to either side. {} Visible "
                   "points are those that the head itself does not hide; a hidden point of the jaw "
                   "counts where the visible outline is. Every method starts from the box of its "
                   "detector on the face as it was, moved with the points. dlib's shipped model "
                   "has very likely seen these faces in its training.",
                   ahead, kLooksAhead, unit),
       turned_table});
  results.exhibits.push_back(
      {"turned_pose", "Head pose by yaw, drawn", "",
       "How far the yaw of the same drawn faces is off, in degrees, mean: told by the shape in "
       "space from all points that each method found, hidden ones too.",
       pose_table});
  results.exhibits.push_back(
      {"dev_by_yaw", "Error by yaw, as photographed", "",
       "The faces of dev.csv that both detectors find, by the yaw that their labels tell; how many "
       "in brackets. " +
           unit,
       real_table});
  results.settings["turned_faces"] = ahead;
}

}  // namespace sdm::experiments
