#include "apps/sdm/annotation_file.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "apps/sdm/annotations.h"
#include "sdm/base/error.h"
#include "sdm/face/data/boxes.h"

namespace sdm::app {

namespace fs = std::filesystem;

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

fs::path whole(const fs::path& path) {
  fs::path result = fs::absolute(path).lexically_normal();
  return result.has_filename() ? result : result.parent_path();  // "folder/"
}

fs::path folder_of(const fs::path& output, Format format) {
  return format == Format::pts_folder ? whole(output) : whole(output).parent_path();
}

face::Annotations moved(face::Annotations annotations, const fs::path& folder) {
  for (face::Annotation& face : annotations.faces)
    face.file = whole(annotations.path(face)).lexically_proximate(folder).generic_string();
  annotations.folder = folder;
  return annotations;
}

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

void write_annotation_file(const fs::path& output, const face::Annotations& annotations,
                           Format format) {
  if (format == Format::csv) face::write_csv(output, annotations);
  if (format == Format::tps) face::write_tps(output, annotations, size_of_picture);
  if (format == Format::imglab) face::write_imglab(output, annotations);
  if (format == Format::list) face::write_list(output, annotations);
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

}  // namespace sdm::app
