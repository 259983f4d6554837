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

enum class Format { csv, pts, pts_folder, tps, imglab, list };

Format format_of(const fs::path& path) {
  const std::string ending = path.extension().string();
  if (fs::is_directory(path) || ending.empty()) return Format::pts_folder;
  const std::map<std::string, Format> formats{{".csv", Format::csv},  {".pts", Format::pts},
                                              {".tps", Format::tps},  {".xml", Format::imglab},
                                              {".txt", Format::list}, {".lst", Format::list},
                                              {".dat", Format::list}};
  const auto found = formats.find(ending);
  if (found == formats.end())
    throw Error(
        fmt::format("{}: '{}' tells no format to write, expected .csv, .pts, a folder for "
                    "many of them, .tps, .xml, .txt, .lst or .dat",
                    path.string(), ending));
  return found->second;
}

bool holds_boxes(Format format) { return format == Format::imglab; }
bool holds_names(Format format) { return format == Format::csv || format == Format::imglab; }
bool holds_groups(Format format) { return format == Format::csv || format == Format::tps; }

fs::path whole(const fs::path& path) {
  fs::path result = fs::absolute(path).lexically_normal();
  return result.has_filename() ? result : result.parent_path();  // "folder/"
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return whole(a) == whole(b) || fs::equivalent(a, b, ignored);
}

bool is_within(const fs::path& path, const fs::path& folder) {
  const fs::path relative = whole(path).lexically_relative(whole(folder));
  return !relative.empty() && *relative.begin() != "..";
}

// The folder that pictures are named relative to in the written file.
fs::path folder_of(const fs::path& output, Format format) {
  return format == Format::pts_folder ? whole(output) : whole(output).parent_path();
}

// Names pictures as the written file has to.
face::Annotations moved(face::Annotations annotations, const fs::path& folder) {
  for (face::Annotation& face : annotations.faces)
    face.file = whole(annotations.path(face)).lexically_proximate(folder).generic_string();
  annotations.folder = folder;
  return annotations;
}

// imglab has no faces without boxes: without one the whole picture is the box.
int give_whole_pictures(face::Annotations& annotations) {
  std::map<std::string, int> faces;
  for (const face::Annotation& face : annotations.faces) ++faces[face.file];
  int given = 0;
  for (face::Annotation& face : annotations.faces) {
    if (face.box) continue;
    if (faces[face.file] > 1)
      throw Error(
          fmt::format("{}: one of several faces in '{}' and without a box, which imglab's "
                      "format needs: name a file with --boxes",
                      face.where, face.file));
    const face::PictureSize size = size_of_picture(annotations.path(face));
    face.box = face::Box{0, 0, static_cast<float>(size.width), static_cast<float>(size.height)};
    ++given;
  }
  return given;
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

void write_boxes(const fs::path& path, const face::Annotations& annotations,
                 const std::string& detector) {
  face::Boxes boxes;
  for (const face::Annotation& face : annotations.faces) {
    std::vector<face::Box>& found = boxes[face.file];
    if (face.box) found.push_back(*face.box);
  }
  face::write_boxes(path, boxes, detector);
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
  for (const face::Annotation& face : annotations.faces) outputs.reads(annotations.path(face));
  if (pts.empty()) outputs.writes(a.output);
  if (writes_boxes) outputs.writes(boxes_out);
  for (const fs::path& path : pts) outputs.writes(path);
  for (std::size_t i = 0; i < pts.size(); ++i) face::write_pts(pts[i], annotations.faces[i].points);
  if (format == Format::csv) face::write_csv(a.output, annotations);
  if (format == Format::tps) face::write_tps(a.output, annotations, size_of_picture);
  if (format == Format::imglab) face::write_imglab(a.output, annotations);
  if (format == Format::list) face::write_list(a.output, annotations);
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
