#include "sdm/face/train/mean_shape.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "face/mirror.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

void centre_and_scale(Shape& mean, UnitPoints unit) {
  const Eigen::Vector2f low = mean.rowwise().minCoeff(), high = mean.rowwise().maxCoeff();
  mean.colwise() -= 0.5F * (low + high);
  const float length = unit.first < 0 ? 0.5F * (high - low).norm()
                                      : (mean.col(unit.first) - mean.col(unit.second)).norm();
  if (!(length > 0)) throw Error("the points that give the unit of the mean shape coincide");
  mean /= length;
}

void symmetrise(Shape& mean, const std::vector<int>& mirror) {
  Shape other = mean;
  for (Eigen::Index p = 0; p < mean.cols(); ++p) {
    const auto q = mean.col(mirror[static_cast<std::size_t>(p)]);
    other.col(p) << -q.x(), q.y();
  }
  // The mirror's axis need not be vertical yet.
  const Similarity onto = fit_similarity(other, mean);
  Shape turned = other;
  onto.to_image(other, turned);
  mean = 0.5F * (mean + turned);
  // An upright face: halfway between the shape and its mirror image.
  const float angle = -0.5F * std::atan2(onto.b, onto.a);
  const Similarity upright{std::cos(angle), std::sin(angle), 0, 0};
  turned = mean;
  upright.to_image(turned, mean);
  // Rounding aside it is symmetric now; make it exactly so.
  const float axis = mean.row(0).mean();
  for (Eigen::Index p = 0; p < mean.cols(); ++p) {
    const Eigen::Index q = mirror[static_cast<std::size_t>(p)];
    if (q < p) continue;
    const float x = 0.5F * (mean(0, p) - mean(0, q)), y = 0.5F * (mean(1, p) + mean(1, q));
    mean.col(p) << axis + x, y;
    mean.col(q) << axis - x, y;
  }
}

// A complete shape, or the one with the most points, the others' brought in by what they share.
Shape seed_shape(std::span<const Shape> shapes) {
  const auto known = [](const Shape& shape) {
    return shape.cols() - (shape.colwise().sum().array().isNaN()).count();
  };
  Shape mean;
  for (const Shape& shape : shapes)
    if (mean.cols() == 0 || known(shape) > known(mean)) mean = shape;
  if (mean.cols() < 2 || known(mean) < 2)
    throw Error("no shape has two known points, expected at least one");
  for (bool more = true; more && !mean.allFinite();) {
    more = false;
    for (const Shape& shape : shapes) {
      Shape shared = shape;
      for (Eigen::Index p = 0; p < mean.cols(); ++p)
        if (shape.col(p).allFinite()) shared.col(p) = mean.col(p);
      if (known(shared) < 2 || known(shape) == known(shared)) continue;
      const Similarity onto = fit_similarity(shape, shared);
      if (!(onto.scale() > 0)) continue;
      Shape moved = shape;
      onto.to_image(shape, moved);
      for (Eigen::Index p = 0; p < mean.cols(); ++p)
        if (!mean.col(p).allFinite() && moved.col(p).allFinite()) {
          mean.col(p) = moved.col(p);
          more = true;
        }
    }
  }
  for (Eigen::Index p = 0; p < mean.cols(); ++p)
    if (!mean.col(p).allFinite())
      throw Error(formatted("point {} is known in no shape that shares two others", p));
  return mean;
}

// Of each component; the upper one of an even number.
Eigen::Array3d median(const std::vector<Eigen::Array3d>& values) {
  Eigen::Array3d result;
  std::vector<double> one(values.size());
  for (Eigen::Index k = 0; k < 3; ++k) {
    std::transform(values.begin(), values.end(), one.begin(),
                   [k](const Eigen::Array3d& value) { return value[k]; });
    const auto middle = one.begin() + static_cast<std::ptrdiff_t>(one.size() / 2);
    std::nth_element(one.begin(), middle, one.end());
    result[k] = *middle;
  }
  return result;
}

}  // namespace

Shape mean_shape(std::span<const Shape> shapes, const std::vector<int>& mirror, UnitPoints unit) {
  for (const Shape& shape : shapes) {
    if (shape.cols() != shapes.front().cols())
      throw Error(formatted("a shape has {} points, expected {} as the first one", shape.cols(),
                            shapes.front().cols()));
  }
  Shape mean = seed_shape(shapes);
  if (!mirror.empty()) require_mirror(mirror, mean.cols());
  const auto inside = [&](int p) { return p >= 0 && p < mean.cols(); };
  if (unit != UnitPoints{-1, -1} && !(inside(unit.first) && inside(unit.second)))
    throw Error(
        formatted("the unit is the distance of points {} and {}, expected two of 0 to {}, or -1 "
                  "and -1",
                  unit.first, unit.second, mean.cols() - 1));
  centre_and_scale(mean, unit);
  Shape aligned = mean;
  for (int round = 0; round < 5; ++round) {
    Eigen::Matrix2Xd sum = Eigen::Matrix2Xd::Zero(2, mean.cols());
    Eigen::ArrayXd count = Eigen::ArrayXd::Zero(mean.cols());
    Eigen::Vector2d roll(0, 0);
    for (const Shape& shape : shapes) {
      const Similarity similarity = fit_similarity(mean, shape);
      if (!(similarity.scale() > 0)) continue;
      similarity.to_face(shape, aligned);
      for (Eigen::Index p = 0; p < mean.cols(); ++p)
        if (aligned.col(p).allFinite()) sum.col(p) += aligned.col(p).cast<double>(), ++count[p];
      roll +=
          Eigen::Vector2d(static_cast<double>(similarity.a), static_cast<double>(similarity.b)) /
          static_cast<double>(similarity.scale());
    }
    for (Eigen::Index p = 0; p < mean.cols(); ++p)
      if (count[p] > 0) mean.col(p) = (sum.col(p) / count[p]).cast<float>();
    // Upright by its mirror image, or else turned as the shapes are on average: not as the first
    // of them happens to be.
    if (!mirror.empty()) {
      symmetrise(mean, mirror);
    } else if (const Eigen::Vector2f average = roll.normalized().cast<float>();
               roll.norm() > 0 && average.allFinite()) {
      Similarity{average.x(), average.y(), 0, 0}.to_image(mean, mean);
    }
    centre_and_scale(mean, unit);
  }
  if (mirror.empty()) return mean;
  // The box's centre is on the axis but for rounding.
  const float axis = mean.row(0).mean();
  mean.row(0).array() -= axis;
  return mean;
}

Shape complete(const Shape& shape, const Shape& mean) {
  if (shape.allFinite()) return shape;
  Shape guess = mean;
  fit_similarity(mean, shape).to_image(mean, guess);
  for (Eigen::Index p = 0; p < shape.cols(); ++p)
    if (shape.col(p).allFinite()) guess.col(p) = shape.col(p);
  return guess;
}

BoxConvention measure_convention(const std::string& detector, std::span<const Shape> shapes,
                                 std::span<const Box> boxes, const Shape& mean) {
  BoxConvention convention;
  convention.detector = detector;
  // By how much faces are elsewhere than the convention says of their boxes: in units, and in the
  // logarithm of the size.
  const auto offsets = [&] {
    std::vector<Eigen::Array3d> result;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (!(boxes[i].width > 0)) continue;
      const Similarity truth = fit_similarity(mean, shapes[i]),
                       guess = convention.similarity(boxes[i]);
      const double unit = static_cast<double>(truth.scale());
      const Eigen::Array3d off(static_cast<double>(truth.x - guess.x) / unit,
                               static_cast<double>(truth.y - guess.y) / unit,
                               std::log(static_cast<double>(truth.scale() / guess.scale())));
      if (off.allFinite()) result.push_back(off);
    }
    return result;
  };
  // Offsets are kept in box widths, which are `width` units on average.
  const auto move = [&](const Eigen::Array3d& off, double width) {
    convention.dx += static_cast<float>(off[0] / width);
    convention.dy += static_cast<float>(off[1] / width);
    convention.scale *= static_cast<float>(std::exp(off[2]));
  };

  // The medians tell which boxes miss their face, however far off those are.
  std::vector<Eigen::Array3d> all = offsets();
  if (!all.empty()) {
    const Eigen::Array3d middle = median(all);
    move(middle, std::exp(-middle[2]) / static_cast<double>(convention.scale));
    all = offsets();
  }
  const std::size_t found = all.size();
  std::erase_if(all, [](const Eigen::Array3d& off) { return off.abs().maxCoeff() > 0.5; });
  if (all.size() < 2)
    throw Error(formatted("{} of {} boxes of '{}' lie on their face, expected at least 2",
                          all.size(), found, detector));
  Eigen::Array3d sum(0, 0, 0), squares(0, 0, 0);
  double size = 0;
  for (const Eigen::Array3d& off : all) {
    sum += off;
    squares += off.square();
    size += std::exp(-off[2]);
  }
  const auto count = static_cast<double>(all.size());
  const Eigen::Array3d average = sum / count;
  const Eigen::Array3d deviations = (squares / count - average.square()).max(0).sqrt();
  move(average, size / count / static_cast<double>(convention.scale));
  convention.sigma_x = static_cast<float>(deviations[0]);
  convention.sigma_y = static_cast<float>(deviations[1]);
  convention.sigma_log_scale = static_cast<float>(deviations[2]);
  return convention;
}

}  // namespace sdm::face
