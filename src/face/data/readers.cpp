#include "face/data/readers.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/formatted.h"

namespace sdm::face {

double to_coordinate(std::string_view text) {
  text = stripped(text);
  if (text.empty() || text == "nan" || text == "NaN" || text == "NAN")
    return std::numeric_limits<double>::quiet_NaN();
  return to_number(text);
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
