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

void require_room(const std::filesystem::path& path, std::size_t faces, std::size_t points,
                  std::size_t known) {
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

Annotations checked(Annotations annotations, const std::filesystem::path& path) {
  if (annotations.faces.empty())
    throw Error(formatted("{}: no face in it{}", path.string(),
                          annotations.skipped.empty()
                              ? std::string()
                              : formatted(" after {} bad entries were skipped, the first: {}",
                                          annotations.skipped.size(), annotations.skipped[0])));
  return annotations;
}

}  // namespace sdm::face
