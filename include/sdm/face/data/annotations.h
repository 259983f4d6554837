#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sdm/face/shape.h"
#include "sdm/io/file.h"

namespace sdm::face {

/// One face of one picture.
struct Annotation {
  std::string file;  // as the annotation file has it
  Shape points;      // a column for each of Annotations::ids; NaN where a point is missing
  std::optional<Box> box;
  std::string group{};  // the specimen or person; pictures of one stay in one fold. Empty: its own
  double scale = 0;     // length of a pixel, in millimetres say; 0: not known
  std::string where{};  // FILE:LINE it was read from, for messages
};

/// Faces with their landmarks. Inside the library the centre of the top-left pixel is (0, 0), in
/// whatever file the points were.
struct Annotations {
  std::vector<int>
      ids;  // the numbers of the points in their markup: 0, 1, ... or, say, 17, 18, ...
  std::vector<std::string> names{};  // of the points; empty: they have numbers only
  std::vector<Annotation> faces{};
  std::vector<std::string> skipped{};  // with skip_bad: what was left out, and why
  std::filesystem::path folder{};      // pictures are named relative to this

  std::filesystem::path path(const Annotation& face) const { return folder / face.file; }
};

/// What the points are called: their names, else their numbers; nothing where these are 0, 1, ...
std::vector<std::string> point_names(const Annotations& annotations);

/// Throws where points are called otherwise or come in another order than expected, naming the
/// first that does; `what` and `expected_by` begin and end the message. Nothing can be said where
/// one side has no names.
void require_same_points(const std::vector<std::string>& names, const std::string& what,
                         const std::vector<std::string>& expected, const std::string& expected_by);

struct PictureSize {
  int width = 0, height = 0;
};
/// Throws saying why it cannot tell.
using PictureSizeReader = std::function<PictureSize(const std::filesystem::path& picture)>;

struct ReadOptions {
  /// Goes on after a bad line (or .pts file, or box) and tells in Annotations::skipped.
  bool skip_bad = false;
  /// Where the pictures are; empty: where the annotations are.
  std::filesystem::path pictures{};
  /// Needed by formats that count rows from the last one (.tps).
  PictureSizeReader size_of{};
  /// Files that the annotations name must lie in this folder, wherever links lead; empty: anywhere.
  std::filesystem::path root{};
  /// Refused: a file of more bytes, and more faces times points than this.
  io::TextLimits text{};
  std::size_t most_points = 100'000'000;
};

/// Reads whichever of the formats below the name tells: .csv, .pts or a folder of them, .tps, .xml,
/// and .txt, .lst or .dat for lists. Coordinates beyond a million pixels are refused. Throws: the
/// file cannot be read; a bad line, named by FILE:LINE (unless skip_bad); nothing left.
Annotations read_annotations(const std::filesystem::path& path, const ReadOptions& options = {});

/// `file,x0,y0,x1,y1,...`, a line a face. The heading is optional; x17,y17 in it says that this is
/// point 17 of the markup, tip.x,tip.y that its name is "tip"; columns `group` and `scale` may be
/// anywhere after the first. A missing point has two empty cells or two `nan`. 0-based.
Annotations read_csv(const std::filesystem::path& path, const ReadOptions& options = {});
void write_csv(const std::filesystem::path& path, const Annotations& annotations);

/// iBUG's .pts, a file a face, or every .pts in a folder and below. The picture is the one of the
/// same name beside it. The format counts pixels from 1; reading subtracts it, writing adds it.
Annotations read_pts(const std::filesystem::path& path, const ReadOptions& options = {});
void write_pts(const std::filesystem::path& path, const Shape& points);

/// The .tps of tpsDig: a specimen after the other, LM=, IMAGE=, SCALE=; ID is the group. Rows are
/// counted from the last one of the picture, which is 0. A point whose coordinates are both
/// negative, `nan` or `NA` is missing. Curves, outlines and points in space are refused by name.
/// Throws: `size_of` is not given, or cannot tell. Writing throws also where a known point would
/// read as a missing one.
Annotations read_tps(const std::filesystem::path& path, const ReadOptions& options);
void write_tps(const std::filesystem::path& path, const Annotations& annotations,
               const PictureSizeReader& size_of);

/// dlib's imglab XML: boxes and their parts; boxes marked `ignore` are left out. Parts with names
/// that are not numbers are numbered in alphabetical order, as dlib does. dlib reads whole pixels
/// only, so writing rounds.
Annotations read_imglab(const std::filesystem::path& path, const ReadOptions& options = {});
void write_imglab(const std::filesystem::path& path, const Annotations& annotations);

/// OpenCV's lists, told apart line by line:
///   picture n x y w h ...   boxes, as opencv_createsamples has them
///   picture x0 y0 x1 y1 ... points, as cv::face::loadTrainingData has them; 0-based
///   picture points.pts      a .pts file, relative to the list
/// Writing gives points where any is known, else the box.
Annotations read_list(const std::filesystem::path& path, const ReadOptions& options = {});
void write_list(const std::filesystem::path& path, const Annotations& annotations);

}  // namespace sdm::face
