// Rohlf's .tps, as tpsDig writes it:
//   LM=12
//   248. 118.
//   ...
//   IMAGE=63014.jpg
//   ID=12
//   SCALE=0.001462
// Rows are counted from the last one, which is 0.

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/formatted.h"
#include "face/data/readers.h"

namespace sdm::face {
namespace {

struct KeyValue {
  std::string key, value;
};

// A line such as LM=12; the key in capitals. No key: a line without `=`.
KeyValue key_value(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return {};
  std::string key(stripped(line.substr(0, equals)));
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return char(std::toupper(c)); });
  return {std::move(key), std::string(stripped(line.substr(equals + 1)))};
}

std::size_t to_count(const std::string& text) {
  const double count = to_number(text);
  if (count < 1 || count > 1e6 || count != std::floor(count))
    throw Error(formatted("'{:.40}' landmarks, expected a whole number from 1", text));
  return std::size_t(count);
}

double tps_coordinate(const std::string& word) {
  return word == "NA" || word == "na" ? std::nan("") : to_coordinate(word);
}

// On Windows the name may be a whole path, which no other machine has.
std::string picture_name(std::string name) {
  if (name.size() > 2 && name[1] == ':') return name.substr(name.find_last_of("\\/:") + 1);
  std::replace(name.begin(), name.end(), '\\', '/');
  return name;
}

// One specimen as its lines are read.
struct Specimen {
  std::size_t line = 0, declared = 0;
  std::string picture, id;
  double scale = 0;
  std::vector<Eigen::Vector2d> points;  // rows from the last one
};

class SpecimenReader {
 public:
  SpecimenReader(const TextLines& file, const ReadOptions& options, Annotations& annotations)
      : file_(file), options_(options), annotations_(annotations) {}

  void read(std::size_t i) {
    const std::string_view line = stripped(file_.lines[i]);
    if (line.empty()) return;
    const KeyValue entry = key_value(line);
    if (entry.key == "LM" || entry.key == "LM3") {
      finish();
      open_ = true;
      specimen_ = {};
      specimen_.line = i;
    }
    if (!open_ && !broken_) file_.fail(i, formatted("'{:.40}', expected LM=", line));
    if (broken_ && !open_) return;  // to the next specimen
    read_or_skip(annotations_, options_, [&] {
      try {
        entry.key.empty() ? add_point(line) : set(entry.key, entry.value);
        broken_ = false;
      } catch (const Error& error) {
        open_ = false;
        broken_ = true;
        file_.fail(i, error.what());
      }
    });
  }

  void finish() {
    if (!open_) return;
    open_ = false;
    read_or_skip(annotations_, options_, [&] {
      try {
        add();
      } catch (const Error& error) {
        file_.fail(specimen_.line, error.what());
      }
    });
  }

 private:
  void set(const std::string& key, const std::string& value) {
    if (key == "LM3" || key == "CURVES" || key == "OUTLINES" || key == "CHAINS") {
      if (key != "LM3" && value == "0") return;
      throw Error(formatted("{}={}: {} not read, landmarks in the plane (LM) alone are", key, value,
                            key == "LM3"      ? "landmarks in space are"
                            : key == "CURVES" ? "curves are"
                                              : "outlines are"));
    }
    if (key == "LM") {
      specimen_.declared = to_count(value);
    } else if (key == "IMAGE") {
      specimen_.picture = picture_name(value);
    } else if (key == "ID") {
      specimen_.id = value;
    } else if (key == "SCALE") {
      specimen_.scale = to_number(value);
      if (!(specimen_.scale > 0)) throw Error(formatted("the scale {}", value));
    } else if (key != "COMMENT" && key != "VARIABLES" && key != "RADII") {
      throw Error(formatted("'{:.40}', expected LM, IMAGE, ID, SCALE, COMMENT or VARIABLES", key));
    }
  }

  void add_point(std::string_view line) {
    const std::vector<std::string> words = split_words(line);
    if (words.size() != 2) throw Error(formatted("{} numbers, expected 2", words.size()));
    if (specimen_.points.size() == specimen_.declared)
      throw Error(formatted("more points than the {} of LM", specimen_.declared));
    specimen_.points.emplace_back(tps_coordinate(words[0]), tps_coordinate(words[1]));
  }

  void add() {
    if (specimen_.points.size() != specimen_.declared)
      throw Error(formatted("{} points, expected {} as LM says", specimen_.points.size(),
                            specimen_.declared));
    if (specimen_.picture.empty()) throw Error("a specimen without IMAGE");
    if (annotations_.ids.empty()) annotations_.ids = first_ids(specimen_.declared);
    if (specimen_.declared != annotations_.ids.size())
      throw Error(formatted("{} points, expected {} as in the specimens before", specimen_.declared,
                            annotations_.ids.size()));
    Annotation face{specimen_.picture, Shape(2, Eigen::Index(specimen_.declared)), {}};
    require_inside(options_, annotations_.path(face));
    const double last_row = options_.size_of(annotations_.path(face)).height - 1;
    for (std::size_t k = 0; k < specimen_.points.size(); ++k) {
      const Eigen::Vector2d& point = specimen_.points[k];
      const bool missing = point.x() < 0 && point.y() < 0;
      face.points.col(Eigen::Index(k)) << (missing ? std::nanf("") : float(point.x())),
          (missing ? std::nanf("") : float(last_row - point.y()));
    }
    check_pairs(face.points);
    face.group = specimen_.id;
    face.scale = specimen_.scale;
    face.where = place(file_, specimen_.line);
    annotations_.faces.push_back(std::move(face));
  }

  const TextLines& file_;
  const ReadOptions& options_;
  Annotations& annotations_;
  Specimen specimen_;
  bool open_ = false, broken_ = false;
};

const std::string& in_one_line(const std::string& text) {
  if (text.find_first_of("\r\n") != std::string::npos)
    throw Error(formatted("'{:.40}' has a line end, which .tps cannot hold", text));
  return text;
}

}  // namespace

Annotations read_tps(const std::filesystem::path& path, const ReadOptions& options) {
  const TextLines file = io::read_lines(path, options.text);
  if (!options.size_of)
    throw Error(
        formatted("{}: rows are counted from the last one, and nobody tells the pictures' "
                  "sizes",
                  path.string()));
  Annotations annotations;
  annotations.folder = pictures_folder(path, options);
  SpecimenReader reader(file, options, annotations);
  for (std::size_t i = 0; i < file.lines.size(); ++i) reader.read(i);
  reader.finish();
  return checked(std::move(annotations), path, options);
}

void write_tps(const std::filesystem::path& path, const Annotations& annotations,
               const PictureSizeReader& size_of) {
  std::string text;
  for (const Annotation& face : annotations.faces) {
    const double last_row = size_of(annotations.path(face)).height - 1;
    text += formatted("LM={}\n", face.points.cols());
    for (Eigen::Index i = 0; i < face.points.cols(); ++i) {
      const double x = double(face.points(0, i)), y = last_row - double(face.points(1, i));
      if (x < 0 && y < 0)
        throw Error(
            formatted("{}: point {} of '{}' lies left of and below the picture, where .tps "
                      "has missing points",
                      path.string(), i, face.file));
      text += std::isnan(x) ? "-1 -1\n" : formatted("{} {}\n", x, y);
    }
    text += formatted("IMAGE={}\n", in_one_line(face.file));
    if (!face.group.empty()) text += formatted("ID={}\n", in_one_line(face.group));
    if (face.scale > 0) text += formatted("SCALE={}\n", face.scale);
  }
  io::write_text(path, text);
}

}  // namespace sdm::face
