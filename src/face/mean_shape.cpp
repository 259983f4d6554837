#include "sdm/face/mean_shape.h"

#include <fmt/format.h>

#include <cmath>

#include "sdm/error.h"

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
  const Frame onto = fit_frame(other, mean);
  Shape turned = other;
  onto.to_image(other, turned);
  mean = 0.5F * (mean + turned);
  // An upright face: halfway between the shape and its mirror image.
  const float angle = -0.5F * std::atan2(onto.b, onto.a);
  const Frame upright{std::cos(angle), std::sin(angle), 0, 0};
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

}  // namespace

Shape mean_shape(std::span<const Shape> shapes, const std::vector<int>& mirror, UnitPoints unit) {
  Shape mean;
  for (const Shape& shape : shapes) {
    if (shape.cols() != shapes.front().cols())
      throw Error(fmt::format("a shape has {} points, expected {} as the first one", shape.cols(),
                              shapes.front().cols()));
    if (mean.cols() == 0 && shape.allFinite()) mean = shape;
  }
  if (mean.cols() < 2) throw Error("no shape has all its points, expected at least one");
  const auto size = static_cast<std::size_t>(mean.cols());
  if (!mirror.empty() && mirror.size() != size)
    throw Error(fmt::format("the mirror has {} points, the shapes {}", mirror.size(), size));
  if (unit.first >= mean.cols() || unit.second >= mean.cols())
    throw Error(fmt::format("the unit is the distance of points {} and {}, the shapes have {}",
                            unit.first, unit.second, mean.cols()));
  centre_and_scale(mean, unit);
  Shape aligned = mean;
  for (int round = 0; round < 5; ++round) {
    Eigen::Matrix2Xd sum = Eigen::Matrix2Xd::Zero(2, mean.cols());
    double count = 0;
    for (const Shape& shape : shapes) {
      if (!shape.allFinite()) continue;
      const Frame frame = fit_frame(mean, shape);
      if (!(frame.scale() > 0)) continue;
      frame.to_face(shape, aligned);
      sum += aligned.cast<double>();
      ++count;
    }
    mean = (sum / std::max(count, 1.0)).cast<float>();
    if (!mirror.empty()) symmetrise(mean, mirror);
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
  fit_frame(mean, shape).to_image(mean, guess);
  for (Eigen::Index p = 0; p < shape.cols(); ++p)
    if (shape.col(p).allFinite()) guess.col(p) = shape.col(p);
  return guess;
}

BoxConvention measure_convention(const std::string& detector, std::span<const Shape> shapes,
                                 std::span<const Box> boxes, const Shape& mean) {
  BoxConvention convention;
  convention.detector = detector;
  // Twice: the first round tells which boxes miss their face.
  for (int round = 0; round < 2; ++round) {
    Eigen::Array3d sum(0, 0, 0), squares(0, 0, 0), deviations(0, 0, 0);
    double count = 0, scale = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (!(boxes[i].width > 0)) continue;
      const Frame truth = fit_frame(mean, shapes[i]), guess = convention.frame(boxes[i]);
      const double unit = static_cast<double>(truth.scale());
      const Eigen::Array3d off(static_cast<double>(truth.x - guess.x) / unit,
                               static_cast<double>(truth.y - guess.y) / unit,
                               std::log(static_cast<double>(truth.scale() / guess.scale())));
      if (round > 0 && off.abs().maxCoeff() > 0.5) continue;
      sum += off;
      squares += off.square();
      scale += static_cast<double>(guess.scale()) / unit;
      ++count;
    }
    if (count < 2)
      throw Error(fmt::format("{} faces have a box of '{}', expected at least 2", count, detector));
    const Eigen::Array3d average = sum / count;
    deviations = (squares / count - average.square()).max(0).sqrt();
    // Offsets are kept in box widths: a width is 1 / scale units.
    const double widths = static_cast<double>(convention.scale) / (scale / count);
    convention.dx += static_cast<float>(average[0] * widths);
    convention.dy += static_cast<float>(average[1] * widths);
    convention.scale *= static_cast<float>(std::exp(average[2]));
    convention.sigma_x = static_cast<float>(deviations[0]);
    convention.sigma_y = static_cast<float>(deviations[1]);
    convention.sigma_log_scale = static_cast<float>(deviations[2]);
  }
  return convention;
}

}  // namespace sdm::face
