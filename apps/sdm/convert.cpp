#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/sdm/annotation_file.h"
#include "apps/sdm/annotations.h"
#include "apps/sdm/commands.h"
#include "apps/sdm/output.h"
#include "apps/sdm/tell.h"
#include "sdm/base/error.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

struct ConvertArguments {
  fs::path input, output, boxes, images;
  std::string detector;
  bool skip_bad = false, strict = false;
};

bool holds_names(Format format) { return format == Format::csv || format == Format::imglab; }
bool holds_groups(Format format) { return format == Format::csv || format == Format::tps; }

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return whole(a) == whole(b) || fs::equivalent(a, b, ignored);
}

bool is_within(const fs::path& path, const fs::path& folder) {
  const fs::path relative = whole(path).lexically_relative(whole(folder));
  return !relative.empty() && *relative.begin() != "..";
}

std::vector<std::string> losses(const face::Annotations& annotations, Format format) {
  const auto any = [&](const auto& has) {
    return std::any_of(annotations.faces.begin(), annotations.faces.end(), has);
  };
  std::vector<std::string> lost;
  if (!holds_names(format) && !annotations.names.empty()) lost.emplace_back("names of points");
  if (!holds_names(format) && annotations.names.empty() && !face::point_names(annotations).empty())
    lost.emplace_back("numbers of points (they are 0, 1, ... now)");
  if (!holds_groups(format) && any([](const auto& face) { return !face.group.empty(); }))
    lost.emplace_back("groups");
  if (!holds_groups(format) && any([](const auto& face) { return face.scale > 0; }))
    lost.emplace_back("scales");
  if (format != Format::imglab) return lost;
  if (any([](const face::Annotation& face) {
        for (const float v : face.points.reshaped())
          if (!std::isnan(v) && v != std::round(v)) return true;
        return false;
      }))
    lost.emplace_back("fractions of pixels, of which dlib reads none");
  if (!std::is_sorted(annotations.names.begin(), annotations.names.end()))
    lost.emplace_back("the order of points, which is the alphabet's here");
  return lost;
}

// A .pts file for each face, named after its picture.
std::vector<fs::path> pts_paths(const face::Annotations& annotations, const fs::path& from,
                                const ConvertArguments& a, Format format) {
  if (format == Format::pts) {
    if (annotations.faces.size() != 1)
      throw Error(fmt::format("{} faces, and a .pts file holds one: name a folder to write to",
                              annotations.faces.size()));
    return {a.output};
  }
  std::vector<fs::path> paths;
  std::map<fs::path, std::string> taken;
  for (const face::Annotation& face : annotations.faces) {
    fs::path relative = whole(annotations.path(face)).lexically_relative(whole(from));
    if (relative.empty() || *relative.begin() == "..") relative = fs::path(face.file).filename();
    paths.push_back(a.output / relative.replace_extension(".pts"));
    const auto [before, is_new] = taken.emplace(paths.back(), face.where);
    if (!is_new)
      throw Error(fmt::format("{} and {}: both would be {}, and a .pts file holds one face",
                              before->second, face.where, paths.back().string()));
    if (fs::exists(paths.back()))
      throw Error(fmt::format("{}: is there already", paths.back().string()));
  }
  return paths;
}

void convert(const ConvertArguments& a) {
  const Format format = format_of(a.output);
  face::Annotations annotations =
      face::read_annotations(a.input, read_options(a.skip_bad, a.images));
  for (const std::string& skipped : annotations.skipped) tell("skipped: {}\n", skipped);
  const auto has_box = [](const face::Annotation& face) { return face.box.has_value(); };
  fs::path boxes = a.boxes;
  if (boxes.empty() && fs::exists(face::boxes_beside(whole(a.input))) &&
      std::none_of(annotations.faces.begin(), annotations.faces.end(), has_box))
    boxes = face::boxes_beside(whole(a.input));
  std::string detector;
  std::size_t detectors = 0;
  if (!boxes.empty()) {
    const face::BoxTable table = face::read_box_table(boxes);
    detectors = table.detectors.size();
    detector = a.detector.empty() ? table.by_preference().front() : a.detector;
    face::give_boxes(annotations, table.of(detector));
    if (detectors == 1) detector = table.detectors.front();
  }
  report_sense(annotations, a.strict, 0);

  // Everything that can go wrong before anything is written.
  const bool any_box = std::any_of(annotations.faces.begin(), annotations.faces.end(), has_box);
  const fs::path boxes_out = face::boxes_beside(whole(a.output));
  const bool boxes_stay = !boxes.empty() && is_same_file(boxes, boxes_out);
  const bool writes_boxes = any_box && !holds_boxes(format) && !boxes_stay;
  if (is_same_file(a.input, a.output) || (!boxes.empty() && is_same_file(boxes, a.output)) ||
      (fs::is_directory(a.input) && format == Format::pts_folder && is_within(a.output, a.input)) ||
      (writes_boxes && is_same_file(a.input, boxes_out)))
    throw Error(fmt::format("{}: is an input, which would be overwritten", a.output.string()));
  const fs::path from = annotations.folder.empty() ? "." : annotations.folder;
  annotations = moved(std::move(annotations), folder_of(a.output, format));
  std::vector<fs::path> pts;
  if (format == Format::pts || format == Format::pts_folder)
    pts = pts_paths(annotations, from, a, format);
  const int whole_pictures = format == Format::imglab ? give_whole_pictures(annotations) : 0;

  Outputs outputs;
  outputs.reads(std::vector<fs::path>{a.input, boxes});
  add_inputs(outputs, annotations);
  if (pts.empty()) outputs.writes(a.output);
  if (writes_boxes) outputs.writes(boxes_out);
  for (const fs::path& path : pts) outputs.writes(path);
  for (std::size_t i = 0; i < pts.size(); ++i) face::write_pts(pts[i], annotations.faces[i].points);
  if (pts.empty()) write_annotation_file(a.output, annotations, format);
  if (writes_boxes) write_boxes(boxes_out, annotations, detector);

  say("wrote {}: {} faces of {} points\n", a.output.string(), annotations.faces.size(),
      annotations.ids.size());
  if (any_box && !holds_boxes(format))
    say("boxes {} {}\n", boxes_stay ? "stay in" : "are in", boxes_out.string());
  if (detectors > 1 && !boxes_stay)
    say("of {} detectors' boxes those of {} were taken\n", detectors, detector);
  if (whole_pictures > 0)
    say("{} faces without a box have the whole picture as theirs\n", whole_pictures);
  if (!pts.empty() && !is_same_file(folder_of(a.output, format), from))
    say("the pictures are not beside the .pts files: read these with --images {}\n", from.string());
  const std::vector<std::string> lost = losses(annotations, format);
  if (!lost.empty()) say("lost: {}\n", fmt::join(lost, "; "));
}

}  // namespace

void add_convert(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("convert", "Write annotations in another format, and tell what is lost");
  auto a = std::make_shared<ConvertArguments>();
  command->add_option("FROM", a->input, "Landmarks: .csv, .pts or a folder, .tps, .xml, list")
      ->required();
  command
      ->add_option("TO", a->output,
                   "The file to write; its ending tells the format, a folder gets a .pts for each "
                   "picture")
      ->required();
  command->add_option("--boxes", a->boxes,
                      "CSV of the boxes; else FROM's own, or FROM_boxes.csv beside it");
  command->add_option("--detector", a->detector,
                      "The column of the boxes file; else haar_alt2 or the first");
  command->add_option("--images", a->images, kImagesHelp);
  command->add_flag("--skip-bad", a->skip_bad, "Go on after bad lines, telling which");
  command->add_flag("--strict", a->strict, kStrictHelp);
  command->footer(
      "Examples:\n"
      "  sdm convert wings.tps wings.csv --images images   rows are counted from the first then\n"
      "  sdm convert wings.csv wings.xml                   for dlib; boxes from wings_boxes.csv\n\n"
      "Where a format holds no boxes, they go to TO_boxes.csv beside it. An input is never "
      "overwritten.");
  command->callback([a] { convert(*a); });
}

}  // namespace sdm::app
