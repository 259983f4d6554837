// iBUG's .pts:
//   version: 1
//   n_points: 68
//   {
//   336.820955 240.864510
//   ...
//   }
// Its pixels are counted from 1, ours from 0.

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "face/data/readers.h"

namespace sdm::face {
namespace {

// The picture of the same name; the name alone where there is none (a file of predictions).
std::filesystem::path picture_of(const std::filesystem::path& pts) {
  for (const char* extension : {".jpg", ".png", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".pgm",
                                ".ppm", ".JPG", ".PNG", ".JPEG"}) {
    std::filesystem::path picture = std::filesystem::path(pts).replace_extension(extension);
    if (std::filesystem::exists(picture)) return picture;
  }
  return std::filesystem::path(pts).replace_extension();
}

std::vector<std::filesystem::path> pts_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".pts") files.push_back(entry->path());
  if (error) throw Error(formatted("{}: {}", folder.string(), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Shape read_pts_points(const std::filesystem::path& path, const ReadOptions& options) {
  const TextLines file = io::read_lines(path, options.text);
  std::vector<float> numbers;
  double declared = -1;
  bool open = false, closed = false;
  for (std::size_t i = 0; i < file.lines.size() && !closed; ++i) {
    const std::string_view line = stripped(file.lines[i]);
    try {
      if (line.empty() || line.starts_with("version")) continue;
      if (line.starts_with("n_points")) {
        declared = to_number(line.substr(std::min(line.find(':') + 1, line.size())));
      } else if (line == "{") {
        open = true;
      } else if (line == "}") {
        closed = true;
      } else if (!open) {
        throw Error(formatted("'{:.40}', expected version, n_points or {{", line));
      } else {
        const std::vector<std::string> words = split_words(line);
        if (words.size() != 2) throw Error(formatted("{} numbers, expected 2", words.size()));
        for (const std::string& word : words) numbers.push_back(float(to_coordinate(word) - 1));
      }
    } catch (const Error& error) {
      file.fail(i, error.what());
    }
  }
  if (!closed) throw Error(formatted("{}: ends before the closing brace", path.string()));
  if (double(numbers.size()) != 2 * declared)
    throw Error(formatted("{}: {} points, expected {} as n_points says", path.string(),
                          numbers.size() / 2, declared));
  Shape points = Eigen::Map<const Shape>(numbers.data(), 2, Eigen::Index(numbers.size() / 2));
  try {
    check_pairs(points);
  } catch (const Error& error) {
    throw Error(formatted("{}: {}", path.string(), error.what()));
  }
  return points;
}

Annotations read_pts(const std::filesystem::path& path, const ReadOptions& options) {
  const bool folder = std::filesystem::is_directory(path);
  Annotations annotations;
  const std::filesystem::path root = folder ? path : path.parent_path();
  annotations.folder = options.pictures.empty() ? root : options.pictures;
  for (const auto& file : folder ? pts_files(path) : std::vector{path}) {
    read_or_skip(annotations, options, [&] {
      Shape points = read_pts_points(file, options);
      if (annotations.faces.empty()) annotations.ids = first_ids(std::size_t(points.cols()));
      if (points.cols() != Eigen::Index(annotations.ids.size()))
        throw Error(formatted("{}: {} points, expected {} as in {}", file.string(), points.cols(),
                              annotations.ids.size(), annotations.faces[0].file));
      const auto relative = file.lexically_relative(root.empty() ? "." : root);
      const auto picture = picture_of(annotations.folder / relative);
      annotations.faces.push_back(
          {picture.lexically_relative(annotations.folder.empty() ? "." : annotations.folder)
               .generic_string(),
           std::move(points),
           {}});
      annotations.faces.back().where = file.string();
    });
  }
  return checked(std::move(annotations), path, options);
}

void write_pts(const std::filesystem::path& path, const Shape& points) {
  std::string text = formatted("version: 1\nn_points: {}\n{{\n", points.cols());
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    if (std::isnan(points(0, i))) {
      text += "nan nan\n";
    } else {
      text += formatted("{} {}\n", double(points(0, i)) + 1, double(points(1, i)) + 1);
    }
  }
  io::write_text(path, text + "}\n");
}

}  // namespace sdm::face
