#include "sdm/rigid/polish.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace sdm::rigid {
namespace {

constexpr int kIterations = 4;
constexpr double kStill = 0.02;  // template units at the corners: a step that is the last
constexpr double kFarthest = 6;  // the same: beyond this the pixels had nothing to hold on to
constexpr Index kLight = 4;      // unknowns of the light
constexpr double kHalfSide = kTemplateSide / 2;
constexpr int kBlock = 2;  // cells along a block's side

// Variance (grey levels) that a cell's residual may have without being suspicious: noise after the
// window's smoothing, and that of a cell with strong slopes when all is a fifth of a unit off.
constexpr float kNoise = 4, kSlip = 0.04F;
// A cell as far off as this many medians has a quarter of the weight.
constexpr float kOdd = 6;

/// Unknowns of a motion in units that move the corners by about one template unit each.
Parameters unit_steps(Motion motion) {
  Parameters unit = Parameters::Ones(parameter_count(motion));
  const Index linear = motion == Motion::homography ? 4 : unit.size() - 2;
  unit.head(linear).setConstant(1 / kHalfSide);
  if (motion == Motion::homography) unit.tail<2>().setConstant(1 / (kHalfSide * kHalfSide));
  return unit;
}

/// d t(warp_of(p) x) / dp at p = 0.
Parameters jacobian_row(Motion motion, double u, double v, double gu, double gv) {
  Parameters row(parameter_count(motion));
  switch (motion) {
    case Motion::translation:
      row << gu, gv;
      break;
    case Motion::similarity:
      row << gu * u + gv * v, gv * u - gu * v, gu, gv;
      break;
    case Motion::affine:
      row << gu * u, gu * v, gv * u, gv * v, gu, gv;
      break;
    case Motion::homography: {
      const double along = gu * u + gv * v;
      row << gu * u, gu * v, gv * u, gv * v, gu, gv, -along * u, -along * v;
      break;
    }
  }
  return row;
}

}  // namespace

PixelTemplate make_pixel_template(image::ByteView view, const Warp& warp, const Canvas& canvas) {
  const Index size = Index(canvas.width) * canvas.height;
  const auto shown = [&](double du, double dv) {
    Vector<float> pixels(size);
    Warp shift = Warp::Identity();
    shift.topRightCorner<2, 1>() << du, dv;
    sample(view, compose(warp, shift), canvas, {pixels.data(), canvas.width, canvas.height});
    return pixels;
  };
  // Central differences over two pixels of the view: bilinear samples are smooth at that distance.
  const double reach = 1 / std::max(scale_of(warp), 0.1);
  const auto slope = [&](double du, double dv) -> Vector<float> {
    return (shown(du, dv) - shown(-du, -dv)) / float(2 * reach);
  };
  return {canvas, shown(0, 0), slope(reach, 0), slope(0, reach)};
}

Polisher::Polisher(const PixelTemplate& target, Motion motion)
    : canvas_(target.canvas),
      motion_(motion),
      columns_(canvas_.hog.columns(canvas_.width)),
      rows_(canvas_.hog.rows(canvas_.height)),
      target_(target.pixels),
      seen_(target.pixels),
      residual_(Vector<float>::Zero(target.pixels.size())) {
  const Index pixels = target.pixels.size(), motions = parameter_count(motion);
  const Index unknowns = motions + kLight, cells = Index(columns_) * rows_;
  cell_.resize(static_cast<std::size_t>(pixels));
  jacobian_.resize(pixels, unknowns);
  size_ = contrast_ = error_ = sorted_ = Vector<float>::Zero(cells);
  weights_ = Vector<float>::Ones(cells);
  cell_hessian_ = Eigen::MatrixXf::Zero(unknowns * unknowns, cells);
  hessian_.resize(unknowns * unknowns);
  const int blocks_across = (columns_ + kBlock - 1) / kBlock;
  blocks_.resize(static_cast<std::size_t>(blocks_across * ((rows_ + kBlock - 1) / kBlock)));
  sums_.resize(6, static_cast<Index>(blocks_.size()));

  const Parameters unit = unit_steps(motion);
  const Warp to_template = canvas_.to_template();
  const float middle = target_.mean();
  for (Index i = 0; i < pixels; ++i) {
    const int x = int(i) % canvas_.width, y = int(i) / canvas_.width;
    const int column = std::min(x / canvas_.hog.cell, columns_ - 1);
    const int row = std::min(y / canvas_.hog.cell, rows_ - 1);
    const int cell = row * columns_ + column;
    cell_[static_cast<std::size_t>(i)] = cell;
    const Eigen::Vector2d at = apply(to_template, {double(x), double(y)});
    const double gu = double(target.slope_u[i]), gv = double(target.slope_v[i]);
    jacobian_.row(i).head(motions) =
        jacobian_row(motion, at.x(), at.y(), gu, gv).cwiseProduct(unit).cast<float>().transpose();
    jacobian_.row(i).tail<kLight>() << target_[i] - middle, 10, float(at.x() / 5),
        float(at.y() / 5);
    size_[cell] += 1;
    contrast_[cell] += float(gu * gu + gv * gv);
    const Eigen::VectorXf j = jacobian_.row(i);
    cell_hessian_.col(cell) += (j * j.transpose()).reshaped();
  }
  contrast_ = contrast_.cwiseQuotient(size_);
}

void Polisher::weigh() {
  error_.setZero();
  for (Index i = 0; i < residual_.size(); ++i)
    error_[cell_[static_cast<std::size_t>(i)]] += residual_[i] * residual_[i];
  error_ = error_.array() / (size_.array() * (kNoise + kSlip * contrast_.array()));
  sorted_ = error_;
  float* middle = sorted_.data() + sorted_.size() / 2;
  std::nth_element(sorted_.data(), middle, sorted_.data() + sorted_.size());
  const float odd = kOdd * std::max(*middle, 0.25F);
  weights_ = (1 + error_.array() / odd).square().inverse();
}

void Polisher::look(image::ByteView view, const Warp& warp) {
  sample(view, warp, canvas_, {seen_.data(), canvas_.width, canvas_.height});
}

Warp Polisher::operator()(image::ByteView view, const Warp& start) {
  const Index motions = parameter_count(motion_), unknowns = motions + kLight;
  using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 12, 12>;
  using Side = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 12, 1>;
  const Parameters unit = unit_steps(motion_);
  Eigen::Matrix<float, Eigen::Dynamic, 1, 0, 12, 1> slope(unknowns), light(unknowns);
  light.setZero();
  weights_.setOnes();
  Warp correction = Warp::Identity();
  double moved = 0;
  for (int k = 0; k < kIterations; ++k) {
    look(view, compose(start, correction));
    // What the light of the last step does not explain tells which cells are something else.
    residual_ = seen_ - target_;
    if (k > 0) {
      residual_.noalias() -= jacobian_.rightCols<kLight>() * light.tail<kLight>();
      weigh();
      residual_ = seen_ - target_;
    }
    for (Index i = 0; i < residual_.size(); ++i)
      residual_[i] *= weights_[cell_[static_cast<std::size_t>(i)]];
    slope.noalias() = jacobian_.transpose() * residual_;
    hessian_.noalias() = cell_hessian_ * weights_;
    Square h =
        Eigen::Map<const Eigen::MatrixXf>(hessian_.data(), unknowns, unknowns).cast<double>();
    // A direction that the template does not tell is left where the maps put it.
    h.diagonal().head(motions).array() += 1e-3 * h.diagonal().head(motions).mean();
    h.diagonal().tail<kLight>().array() += 1e-6 * h.diagonal().tail<kLight>().mean() + 1e-9;
    const Side delta = h.ldlt().solve(slope.cast<double>());
    const double step = delta.head(motions).norm();
    moved += step;
    if (!(moved <= kFarthest)) {
      look(view, start);
      return Warp::Identity();
    }
    light = delta.cast<float>();
    const Parameters p = delta.head(motions).cwiseProduct(unit);
    correction = compose(correction, inverse(warp_of(motion_, p)));
    if (step < kStill) break;
  }
  return correction;
}

std::vector<Polisher::Block>& Polisher::blocks() {
  const int across = (columns_ + kBlock - 1) / kBlock;
  sums_.setZero();
  for (Index i = 0; i < seen_.size(); ++i) {
    const int cell = cell_[static_cast<std::size_t>(i)];
    auto sum = sums_.col(cell / columns_ / kBlock * across + cell % columns_ / kBlock);
    const double s = double(seen_[i]), t = double(target_[i]);
    sum[0] += 1;
    sum[1] += s;
    sum[2] += t;
    sum[3] += s * s;
    sum[4] += t * t;
    sum[5] += s * t;
  }
  float whole = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const auto sum = sums_.col(static_cast<Index>(b));
    const double n = sum[0], ss = sum[3] - sum[1] * sum[1] / n, tt = sum[4] - sum[2] * sum[2] / n;
    const double st = sum[5] - sum[1] * sum[2] / n;
    // A block without contrast correlates with nothing.
    blocks_[b].correlation = float(st / std::sqrt((ss + kNoise * n) * (tt + kNoise * n)));
    blocks_[b].share = float(std::sqrt(tt));
    whole += blocks_[b].share;
  }
  for (Block& block : blocks_) block.share /= std::max(whole, 1e-6F);
  return blocks_;
}

}  // namespace sdm::rigid
