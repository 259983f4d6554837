// OpenCV's lists: a picture a line, then boxes, points, or the name of a .pts file.

#include <cmath>

#include "base/formatted.h"
#include "face/data/readers.h"

namespace sdm::face {
namespace {

std::vector<float> numbers_of(const std::vector<std::string>& words) {
  std::vector<float> numbers;
  for (std::size_t i = 1; i < words.size(); ++i) numbers.push_back(float(to_coordinate(words[i])));
  return numbers;
}

// The number of boxes comes first, so boxes are 1 + 4 n numbers and points an even number.
bool are_boxes(const std::vector<float>& numbers) { return numbers.size() % 2 == 1; }

void add_boxes(Annotations& annotations, const std::string& file,
               const std::vector<float>& numbers) {
  for (float v : numbers)
    if (std::isnan(v)) throw Error("a number of a box is missing");
  // Groups of four first: a count such as .5 would else end within one.
  const std::size_t boxes = numbers.size() / 4;
  if (numbers.size() % 4 != 1 || float(boxes) != numbers[0])
    throw Error(formatted("{} numbers after the count {}, expected {}", numbers.size() - 1,
                          numbers[0],
                          numbers[0] >= 0 && numbers[0] == std::floor(numbers[0])
                              ? formatted("{}", 4 * numbers[0])
                              : std::string("a whole count and four for each box")));
  for (std::size_t i = 1; i + 3 < numbers.size(); i += 4)
    annotations.faces.push_back(
        {file, Shape(2, 0), Box{numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]}});
}

void add_points(Annotations& annotations, const std::string& file, Shape points) {
  if (annotations.ids.empty()) annotations.ids = first_ids(std::size_t(points.cols()));
  if (points.cols() != Eigen::Index(annotations.ids.size()))
    throw Error(formatted("{} points, expected {} as in the lines before", points.cols(),
                          annotations.ids.size()));
  check_pairs(points);
  annotations.faces.push_back({file, std::move(points), {}});
}

}  // namespace

Annotations read_list(const std::filesystem::path& path, const ReadOptions& options) {
  const TextLines file = io::read_lines(path, options.text);
  Annotations annotations;
  annotations.folder = pictures_folder(path, options);
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::vector<std::string> words = split_words(file.lines[i]);
    if (words.empty() || words[0].starts_with('#')) continue;
    const std::size_t before = annotations.faces.size();
    read_or_skip(annotations, options, [&] {
      try {
        if (words.size() == 1) throw Error("a picture alone, expected boxes or points after it");
        if (words.size() == 2 && words[1].ends_with(".pts")) {
          require_inside(options, path.parent_path() / words[1]);
          return add_points(annotations, words[0],
                            read_pts_points(path.parent_path() / words[1], options));
        }
        const std::vector<float> numbers = numbers_of(words);
        if (are_boxes(numbers)) return add_boxes(annotations, words[0], numbers);
        add_points(annotations, words[0],
                   Eigen::Map<const Shape>(numbers.data(), 2, Eigen::Index(numbers.size() / 2)));
      } catch (const Error& error) {
        file.fail(i, error.what());
      }
    });
    for (std::size_t k = before; k < annotations.faces.size(); ++k)
      annotations.faces[k].where = place(file, i);
  }
  std::size_t known = 0;
  for (const Annotation& face : annotations.faces) known += std::size_t(face.points.cols());
  require_room(path, options, annotations.faces.size(), annotations.ids.size(), known);
  // A face with a box alone has its points missing if others have theirs.
  for (Annotation& face : annotations.faces)
    if (face.points.cols() == 0)
      face.points.setConstant(2, Eigen::Index(annotations.ids.size()), std::nanf(""));
  return checked(std::move(annotations), path, options);
}

void write_list(const std::filesystem::path& path, const Annotations& annotations) {
  std::string text;
  for (const Annotation& face : annotations.faces) {
    if (face.box && bounds(face.points).isEmpty()) {
      text += formatted("{} 1 {} {} {} {}", quoted(face.file), face.box->x, face.box->y,
                        face.box->width, face.box->height);
    } else if (face.points.cols() > 0) {
      text += quoted(face.file);
      for (float v : face.points.reshaped()) text += std::isnan(v) ? " nan" : formatted(" {}", v);
    } else {
      continue;
    }
    text += '\n';
  }
  io::write_text(path, text);
}

}  // namespace sdm::face
