#include "sdm/rigid/lucas_kanade.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "rigid/check.h"
#include "rigid/gradients.h"
#include "rigid/warp_image.h"

namespace sdm::rigid {
namespace {

constexpr double kHalfSide = kTemplateSide / 2;

Eigen::Map<const Eigen::ArrayXf> values(const image::Image<float>& image) {
  return {image.view().data, Index(image.width()) * image.height()};
}

}  // namespace

void LucasKanadeOptions::validate() const {
  if (motion != Motion::affine && motion != Motion::homography)
    throw Error(
        formatted("Lucas-Kanade's motion is {}, expected affine or homography", to_string(motion)));
  if (iterations < 1) throw Error(formatted("iterations is {}, expected at least 1", iterations));
}

LucasKanade::LucasKanade(image::ByteView frame, const Quad& region,
                         const LucasKanadeOptions& options)
    : options_(options),
      shape_(shape_of(region)),
      canvas_(make_canvas(shape_, int(kTemplateSide), {})),
      window_(false, 2),
      warp_(warp_to(shape_, region)),
      target_(canvas_.width, canvas_.height),
      seen_(canvas_.width, canvas_.height) {
  options_.validate();
  window_.look(frame, shape_, warp_);
  sample(window_.view(), window_.in_view(warp_), canvas_, target_);

  const Index pixels = Index(canvas_.width) * canvas_.height;
  u_.resize(pixels);
  v_.resize(pixels);
  const Warp to_template = canvas_.to_template();
  for (Index i = 0; i < pixels; ++i) {
    const Index x = i % canvas_.width, y = i / canvas_.width;
    const Eigen::Vector2d at = apply(to_template, {double(x), double(y)});
    u_[i] = float(at.x() / kHalfSide);
    v_[i] = float(at.y() / kHalfSide);
  }
  jacobian_.resize(pixels, parameter_count(options_.motion));
  if (options_.kind == LucasKanadeKind::forward_additive) return;

  // d(f(x, p))/dp at the identity, in the order of Parameters; u and v measured in half sides.
  image::Image<float> image_x(canvas_.width, canvas_.height), image_y = image_x;
  gradients(target_, image_x, image_y);
  const Eigen::ArrayXf gx = float(kHalfSide) * values(image_x);
  const Eigen::ArrayXf gy = float(kHalfSide) * values(image_y);
  jacobian_.leftCols<6>() << gx * u_, gx * v_, gy * u_, gy * v_, gx, gy;
  if (options_.motion == Motion::homography) {
    jacobian_.col(6) = -(gx * u_ + gy * v_) * u_;
    jacobian_.col(7) = -(gx * u_ + gy * v_) * v_;
  }
  const Eigen::MatrixXd j = jacobian_.cast<double>();
  hessian_ = j.transpose() * j;
}

Warp LucasKanade::update(image::ByteView frame) {
  check_frame(frame);
  if (!warp_.allFinite()) return warp_;
  window_.look(frame, shape_, warp_);
  const Warp start = window_.in_view(warp_);
  const Warp found = options_.kind == LucasKanadeKind::forward_additive ? align_forward(start)
                                                                        : align_inverse(start);
  return warp_ = compose(warp_, compose(inverse(start), found));
}

Warp LucasKanade::align_forward(const Warp& start) {
  // The part of the frame that the iterations may see: 0.8 sides around the template.
  const image::ByteView view = window_.view();
  const Quad corners = shape_.corners(start);
  const double margin = 0.8 * kTemplateSide * scale_of(start);
  const auto edge = [](double at, int size) { return int(std::clamp(at, 0.0, double(size))); };
  int left = edge(corners.row(0).minCoeff() - margin, view.width - 1);
  int top = edge(corners.row(1).minCoeff() - margin, view.height - 1);
  const int width = edge(corners.row(0).maxCoeff() + margin, view.width) - left;
  const int height = edge(corners.row(1).maxCoeff() + margin, view.height) - top;
  if (width < 1 || height < 1) return start;
  const auto size = std::size_t(width) * std::size_t(height);
  for (auto* buffer : {&part_, &part_x_, &part_y_})
    if (buffer->size() < size) buffer->resize(size);
  const image::ImageView<float> part(part_.data(), width, height);
  const image::ImageView<float> part_x(part_x_.data(), width, height);
  const image::ImageView<float> part_y(part_y_.data(), width, height);
  for (int y = 0; y < height; ++y) std::copy_n(view.row(top + y) + left, width, part.row(y));
  gradients(part, part_x, part_y);

  // The parameters are the entries of the warp from template to frame coordinates, both measured
  // from the middle in half sides: near the identity, whatever the size and place of the template.
  const double unit = kHalfSide * scale_of(start);
  const Eigen::Vector2d middle = start.topRightCorner<2, 1>() - Eigen::Vector2d(left, top);
  Warp to_part, from_pixels = Warp::Identity();
  to_part << unit, 0, middle.x(), 0, unit, middle.y(), 0, 0, 1;
  from_pixels.diagonal().head<2>().setConstant(1 / kHalfSide);
  Warp shift = Warp::Identity();
  shift.topRightCorner<2, 1>() << -left, -top;
  Warp w = compose(inverse(to_part), compose(shift, compose(start, inverse(from_pixels))));

  image::Image<float> image_x(canvas_.width, canvas_.height), image_y = image_x;
  for (int k = 0; k < options_.iterations; ++k) {
    const Warp map = compose(to_part, compose(w, compose(from_pixels, canvas_.to_template())));
    if (!map.allFinite()) break;
    warp_image<float>(part, map, seen_);
    warp_image<float>(part_x, map, image_x);
    warp_image<float>(part_y, map, image_y);
    const auto gx = float(unit) * values(image_x), gy = float(unit) * values(image_y);
    if (options_.motion == Motion::affine) {
      jacobian_.col(0) = gx * u_;
      jacobian_.col(1) = gx * v_;
      jacobian_.col(2) = gx;
      jacobian_.col(3) = gy * u_;
      jacobian_.col(4) = gy * v_;
      jacobian_.col(5) = gy;
    } else {
      const Eigen::Matrix3f p = w.cast<float>();
      const Eigen::ArrayXf over = 1 / (p(2, 0) * u_ + p(2, 1) * v_ + p(2, 2));
      const Eigen::ArrayXf along = (gx * (p(0, 0) * u_ + p(0, 1) * v_ + p(0, 2)) +
                                    gy * (p(1, 0) * u_ + p(1, 1) * v_ + p(1, 2))) *
                                   over * over;
      jacobian_ << gx * u_ * over, gx * v_ * over, gx * over, gy * u_ * over, gy * v_ * over,
          gy * over, -along * u_, -along * v_;
    }
    const Eigen::VectorXf error = values(target_) - values(seen_);
    const Eigen::MatrixXd hessian = (jacobian_.transpose() * jacobian_).cast<double>();
    const Eigen::VectorXd slope = (jacobian_.transpose() * error).cast<double>();
    const Eigen::VectorXd delta = hessian.ldlt().solve(slope);
    w.row(0) += delta.segment<3>(0).transpose();
    w.row(1) += delta.segment<3>(3).transpose();
    if (delta.size() == 8) w.block<1, 2>(2, 0) += delta.tail<2>().transpose();
  }
  return compose(inverse(shift), compose(to_part, compose(w, from_pixels)));
}

Warp LucasKanade::align_inverse(const Warp& start) {
  const Eigen::LDLT<Eigen::MatrixXd> solver(hessian_);
  Warp from_half_sides = Warp::Identity();
  from_half_sides.diagonal().head<2>().setConstant(kHalfSide);
  Warp w = start;
  for (int k = 0; k < options_.iterations; ++k) {
    if (!w.allFinite()) break;
    sample(window_.view(), w, canvas_, seen_);
    const Eigen::VectorXf error = values(seen_) - values(target_);
    const Parameters delta = solver.solve((jacobian_.transpose() * error).cast<double>());
    w = compose(w, compose(from_half_sides, compose(inverse(warp_of(options_.motion, delta)),
                                                    inverse(from_half_sides))));
  }
  return w;
}

}  // namespace sdm::rigid
