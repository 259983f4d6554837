#include "face/data/readers.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/formatted.h"

namespace sdm::face {

double to_pixels(std::string_view text) {
  constexpr double largest = 1e6;
  const double value = to_number(text);
  if (std::abs(value) > largest)
    throw Error(formatted("'{:.40}', expected at most {} pixels", stripped(text), largest));
  return value;
}

double to_coordinate(std::string_view text) {
  text = stripped(text);
  if (text.empty() || text == "nan" || text == "NaN" || text == "NAN")
    return std::numeric_limits<double>::quiet_NaN();
  return to_pixels(text);
}

void check_pairs(const Shape& points) {
  for (Eigen::Index i = 0; i < points.cols(); ++i)
    if (std::isnan(points(0, i)) != std::isnan(points(1, i)))
      throw Error(formatted("point {} has one coordinate, expected both or none", i));
}

std::vector<int> first_ids(std::size_t count) {
  std::vector<int> ids(count);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

void require_room(const std::filesystem::path& path, const ReadOptions& options, std::size_t faces,
                  std::size_t points, std::size_t known) {
  if (points > 0 && faces > options.most_points / points)
    throw Error(formatted("{}: {} faces of {} points, the limit is {} points in all", path.string(),
                          faces, points, options.most_points));
  if (faces * points > 1'000'000 && faces * points > 100 * known)
    throw Error(
        formatted("{}: {} points in {} faces, of which {} are known: are the points of "
                  "every face called alike?",
                  path.string(), points, faces, known));
}

std::filesystem::path pictures_folder(const std::filesystem::path& annotations,
                                      const ReadOptions& options) {
  return options.pictures.empty() ? annotations.parent_path() : options.pictures;
}

std::string place(const TextLines& file, std::size_t index) {
  return formatted("{}:{}", file.name, index + 1);
}

void require_inside(const ReadOptions& options, const std::filesystem::path& file) {
  // Whatever opens it would see the part before.
  if (file.native().find('\0') != std::filesystem::path::string_type::npos)
    throw Error("the name of a file has a zero byte");
  if (options.root.empty()) return;
  std::error_code failed, other;
  const std::filesystem::path place = std::filesystem::weakly_canonical(file, failed),
                              root = std::filesystem::weakly_canonical(options.root, other);
  const std::filesystem::path inner = place.lexically_relative(root);
  if (failed || other || inner.empty() || *inner.begin() == "..")
    throw Error(formatted("'{}' lies outside of {}, to which files are confined", file.string(),
                          options.root.string()));
}

Annotations checked(Annotations annotations, const std::filesystem::path& path,
                    const ReadOptions& options) {
  for (const Annotation& face : annotations.faces) {
    const std::string where = face.where.empty() ? path.string() : face.where;
    try {
      require_inside(options, annotations.path(face));
    } catch (const Error& error) {
      throw Error(formatted("{}: {}", where, error.what()));
    }
  }
  for (std::size_t i = 0; i < annotations.names.size(); ++i)
    if (!is_utf8(annotations.names[i]))
      throw Error(formatted("{}: the name of point {} is not UTF-8", path.string(), i));
  if (annotations.faces.empty())
    throw Error(formatted("{}: no face in it{}", path.string(),
                          annotations.skipped.empty()
                              ? std::string()
                              : formatted(" after {} bad entries were skipped, the first: {}",
                                          annotations.skipped.size(), annotations.skipped[0])));
  return annotations;
}

}  // namespace sdm::face
