#include "sdm/face/data/sense.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>

#include "base/formatted.h"
#include "face/data/readers.h"

namespace sdm::face {
namespace {

bool is_inside(const Eigen::Vector2f& point, const PictureSize& size) {
  // Up to the outer edge of the outermost pixels, and what rounding adds.
  return point.minCoeff() >= -1 && point.x() <= float(size.width) &&
         point.y() <= float(size.height);
}

Shape swapped(const Shape& points) { return points.colwise().reverse(); }

struct Outside {
  int count = 0, known = 0, first = -1;
};

Outside outside(const Shape& points, const PictureSize& size) {
  Outside result;
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    if (points.col(i).hasNaN()) continue;
    ++result.known;
    if (is_inside(points.col(i), size)) continue;
    if (result.count++ == 0) result.first = int(i);
  }
  return result;
}

// Moved to the mean of the points and of mean square distance 1 from it; no rotation is taken out.
Shape normalised(const Shape& points) {
  const Shape centred = points.colwise() - points.rowwise().mean().eval();
  const float size = centred.norm() / std::sqrt(float(std::max<Eigen::Index>(1, points.cols())));
  return size > 0 ? Shape(centred / size) : centred;
}

double distance(const Shape& a, const Shape& b) {
  return double((a - b).norm()) / std::sqrt(double(std::max<Eigen::Index>(1, a.cols())));
}

float middle(std::vector<float>& values) {
  const auto half = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

// The faces that look like all others only when x and y change places.
std::vector<bool> look_swapped(const Annotations& annotations) {
  std::vector<bool> swaps(annotations.faces.size(), false);
  if (annotations.ids.size() < 3) return swaps;  // boxes alone have no points
  std::vector<std::size_t> whole;
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < annotations.faces.size(); ++i) {
    if (annotations.faces[i].points.hasNaN()) continue;
    whole.push_back(i);
    shapes.push_back(normalised(annotations.faces[i].points));
  }
  if (shapes.size() < 5) return swaps;  // too few to say what is usual
  Shape usual(2, shapes[0].cols());
  std::vector<float> values(shapes.size());
  for (Eigen::Index k = 0; k < usual.size(); ++k) {
    for (std::size_t i = 0; i < shapes.size(); ++i) values[i] = shapes[i](k);
    usual(k) = middle(values);
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) values[i] = float(distance(shapes[i], usual));
  std::vector<float> sorted = values;
  const float typical = middle(sorted);
  for (std::size_t i = 0; i < shapes.size(); ++i)
    swaps[whole[i]] =
        values[i] > 3 * typical && distance(swapped(shapes[i]), usual) < 0.5 * double(values[i]);
  return swaps;
}

Eigen::AlignedBox2f area(float x1, float y1, float x2, float y2) {
  return {Eigen::Vector2f(x1, y1), Eigen::Vector2f(x2, y2)};
}

double share_in_common(const Eigen::AlignedBox2f& a, const Eigen::AlignedBox2f& b) {
  const Eigen::AlignedBox2f both = a.intersection(b);
  if (both.isEmpty()) return 0;
  const double common = double(both.volume());
  return common / std::max(1e-9, double(a.volume()) + double(b.volume()) - common);
}

bool could_be_corners(const Box& box) { return box.width > box.x && box.height > box.y; }

// How much a number differs from face to face.
double spread(std::vector<float> values) {
  const float usual = middle(values);
  for (float& value : values) value = std::abs(value - usual);
  return double(middle(values));
}

// How much the boxes differ in size and place from face to face, seen from the points.
double spread_of(const std::vector<Eigen::AlignedBox2f>& boxes,
                 const std::vector<Eigen::AlignedBox2f>& around) {
  std::vector<float> size, x, y;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const float unit = around[i].diagonal().norm();
    const Eigen::Vector2f off = (boxes[i].center() - around[i].center()) / unit;
    size.push_back(std::log(boxes[i].diagonal().norm() / unit));
    x.push_back(off.x());
    y.push_back(off.y());
  }
  return spread(size) + spread(x) + spread(y);
}

// A detector's boxes lie about points alike in every face. Where they do so only if they are taken
// for corners, they are; gives the first such face.
std::optional<std::size_t> first_of_corners(const Annotations& annotations) {
  std::vector<Eigen::AlignedBox2f> as_given, as_corners, around;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < annotations.faces.size(); ++i) {
    const Annotation& face = annotations.faces[i];
    const Eigen::AlignedBox2f points = bounds(face.points);
    if (!face.box || points.isEmpty() || !(points.diagonal().norm() > 0)) continue;
    const Box& box = *face.box;
    if (!could_be_corners(box)) return {};
    if (!first) first = i;
    around.push_back(points);
    as_given.push_back(area(box.x, box.y, box.x + box.width, box.y + box.height));
    as_corners.push_back(area(box.x, box.y, box.width, box.height));
  }
  if (around.size() < 5 || spread_of(as_corners, around) > 0.5 * spread_of(as_given, around))
    return {};
  return first;
}

std::string box_text(const Box& box) {
  return formatted("the box {},{},{},{}", box.x, box.y, box.width, box.height);
}

std::optional<std::string> wrong_box(const Box& box, const Shape& points, const PictureSize& size) {
  const Eigen::AlignedBox2f around = bounds(points);
  if (around.isEmpty()) return {};
  const auto as_given = area(box.x, box.y, box.x + box.width, box.y + box.height);
  const float room = 0.05F * std::max(box.width, box.height);
  const bool reaches_out = size.width > 0 && (as_given.max().x() > float(size.width) + room ||
                                              as_given.max().y() > float(size.height) + room);
  if (could_be_corners(box) && reaches_out) {
    const auto as_corners = area(box.x, box.y, box.width, box.height);
    if (share_in_common(as_corners, around) > 1.5 * share_in_common(as_given, around))
      return box_text(box) + " looks like two corners, expected a corner and a size: x, y, w, h";
  }
  if (!as_given.contains(around.center()))
    return box_text(box) + formatted(" does not hold the middle of its points, ({:.1f}, {:.1f})",
                                     around.center().x(), around.center().y());
  return {};
}

// For each face one before it that has nearly the same points in the same picture, or none.
std::vector<std::optional<std::size_t>> twins(const Annotations& annotations) {
  const auto& faces = annotations.faces;
  std::vector<std::size_t> order;
  std::vector<Eigen::AlignedBox2f> around;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    around.push_back(bounds(faces[i].points));
    if (!around[i].isEmpty()) order.push_back(i);
  }
  // Twins are neighbours in this order, so that every face has one to be compared with.
  const auto key = [&](std::size_t i) {
    return std::tuple<const std::string&, float, float, std::size_t>(
        faces[i].file, around[i].min().x(), around[i].min().y(), i);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<std::optional<std::size_t>> result(faces.size());
  for (std::size_t k = 1; k < order.size(); ++k) {
    const auto [before, after] = std::minmax(order[k - 1], order[k]);
    const double far = mean_distance(faces[before].points, faces[after].points);
    if (faces[before].file == faces[after].file &&
        far <= 0.01 * double(around[after].diagonal().norm()))
      result[after] = before;
  }
  return result;
}

std::string place_of(const Annotation& face) { return face.where.empty() ? face.file : face.where; }

std::string name_of_point(const Annotations& annotations, std::size_t i) {
  return annotations.names.empty() ? std::to_string(annotations.ids.at(i))
                                   : formatted("'{}'", annotations.names[i]);
}

}  // namespace

std::vector<Finding> check_sense(const Annotations& annotations,
                                 const std::vector<PictureSize>& sizes) {
  const auto& faces = annotations.faces;
  if (!sizes.empty() && sizes.size() != faces.size())
    throw Error(formatted("{} sizes of pictures for {} faces", sizes.size(), faces.size()));
  const std::vector<bool> swaps = look_swapped(annotations);
  const auto twin_of = twins(annotations);
  const std::optional<std::size_t> corners = first_of_corners(annotations);
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const Annotation& face = faces[i];
    const auto tell = [&](std::string what) {
      findings.push_back({place_of(face), std::move(what)});
    };
    const PictureSize size = sizes.empty() ? PictureSize{} : sizes[i];
    const Outside out = size.width > 0 ? outside(face.points, size) : Outside{};
    if (swaps[i] || (2 * out.count > out.known && outside(swapped(face.points), size).count == 0)) {
      tell("x and y look swapped");
    } else if (out.count > 0) {
      tell(formatted("{} of {} points lie outside the picture of {} x {}: point {} at ({}, {})",
                     out.count, out.known, size.width, size.height,
                     name_of_point(annotations, std::size_t(out.first)), face.points(0, out.first),
                     face.points(1, out.first)));
    }
    if (corners == i)
      tell(box_text(*face.box) +
           ", as all others, looks like two corners, expected a corner and a size: x, y, w, h");
    if (face.box && !corners)
      if (auto what = wrong_box(*face.box, face.points, size)) tell(std::move(*what));
    if (twin_of[i]) tell(formatted("the same face as {}", place_of(faces[*twin_of[i]])));
  }
  return findings;
}

void require_enough(const Annotations& annotations, std::size_t needed) {
  const std::size_t count = annotations.faces.size();
  if (count < needed)
    throw Error(formatted("{} annotated picture{}, expected at least {}", count,
                          count == 1 ? "" : "s", needed));
  for (std::size_t k = 0; k < annotations.ids.size(); ++k) {
    const auto known = std::size_t(std::count_if(
        annotations.faces.begin(), annotations.faces.end(),
        [&](const auto& face) { return !std::isnan(face.points(0, Eigen::Index(k))); }));
    if (known < needed)
      throw Error(formatted("point {} is known in {} of {} pictures, expected at least {}",
                            name_of_point(annotations, k), known, count, needed));
  }
}

}  // namespace sdm::face
