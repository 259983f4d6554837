#include "sdm/rigid/polish.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace sdm::rigid {
namespace {

constexpr int kPolishSteps = 4, kCoveredSteps = 8;
constexpr int kReweighted = 3;   // times before the first step of a covered template
constexpr double kStill = 0.06;  // template units at the corners: a step that is the last
constexpr double kFarthest = 6;  // the same: beyond this the pixels had nothing to hold on to
constexpr Index kLight = 4;      // unknowns of the light
constexpr Index kNuisance = kLight + PixelTemplate::kBlurs;
constexpr double kBlurLength = 8;             // template units
constexpr double kReach = kTemplateSide / 2;  // of a corner, in each direction
constexpr double kStay = 1e-3;                // of the mean curvature
constexpr float kMiddleGrey = 128;            // keeps the sums of a block small
constexpr int kBlock = 2;                     // cells along a block's side

// Variance (grey levels) that a cell's residual may have without being suspicious: noise after the
// window's smoothing, and that of a cell with strong slopes when all is a fifth of a unit off.
constexpr float kNoise = 4, kSlip = 0.04F;
// A cell that correlates less, wherever it is put nearby, shows something else.
constexpr float kAlike = 0.7F;
constexpr float kStrange = 0.1F;  // the weight under which a cell shows something else
// A cell as far off as this many medians has a quarter of the weight.
constexpr float kOdd = 3;

/// Unknowns of a motion in units that move the corners by about one template unit each.
Parameters unit_steps(Motion motion) {
  Parameters unit = Parameters::Ones(parameter_count(motion));
  const Index linear = motion == Motion::homography ? 4 : unit.size() - 2;
  unit.head(linear).setConstant(1 / kReach);
  if (motion == Motion::homography) unit.tail<2>().setConstant(1 / (kReach * kReach));
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
  PixelTemplate target{canvas, shown(0, 0), slope(reach, 0), slope(0, reach), {}};
  target.blurs.resize(size, PixelTemplate::kBlurs);
  for (int k = 0; k < PixelTemplate::kBlurs; ++k) {
    const double angle = k * std::numbers::pi / PixelTemplate::kBlurs;
    constexpr int kExposures = 8;
    target.blurs.col(k) = -target.pixels;
    for (int i = 0; i < kExposures; ++i) {
      const double along = kBlurLength * ((i + 0.5) / kExposures - 0.5);
      target.blurs.col(k) += shown(along * std::cos(angle), along * std::sin(angle)) / kExposures;
    }
  }
  return target;
}

Polisher::Polisher(const PixelTemplate& target, Motion motion)
    : canvas_(target.canvas),
      motion_(motion),
      columns_(canvas_.hog.columns(canvas_.width)),
      rows_(canvas_.hog.rows(canvas_.height)),
      target_(target.pixels),
      seen_(target.pixels),
      residual_(Vector<float>::Zero(target.pixels.size())),
      rest_(residual_) {
  const Index pixels = target.pixels.size(), motions = parameter_count(motion);
  const Index unknowns = motions + kNuisance, cells = Index(columns_) * rows_;
  jacobian_.resize(pixels, unknowns);
  size_ = contrast_ = error_ = sorted_ = Vector<float>::Zero(cells);
  weights_ = Vector<float>::Ones(cells);
  cell_hessian_ = Eigen::MatrixXf::Zero(unknowns * (unknowns + 1) / 2, cells);
  hessian_.resize(cell_hessian_.rows());
  slope_ = unknowns_ = Vector<float>::Zero(unknowns);
  const int blocks_across = (columns_ + kBlock - 1) / kBlock;
  blocks_.resize(static_cast<std::size_t>(blocks_across * ((rows_ + kBlock - 1) / kBlock)));
  sums_.resize(6, static_cast<Index>(blocks_.size()));
  for (int x = 0; x < canvas_.width; ++x)
    cell_of_column_.push_back(std::min(x / canvas_.hog.cell, columns_ - 1));
  for (int y = 0; y < canvas_.height; ++y)
    cell_of_row_.push_back(std::min(y / canvas_.hog.cell, rows_ - 1));

  const Parameters unit = unit_steps(motion);
  const Warp to_template = canvas_.to_template();
  const float middle = target_.mean();
  for (Index i = 0; i < pixels; ++i) {
    const auto x = static_cast<std::size_t>(i % canvas_.width);
    const auto y = static_cast<std::size_t>(i / canvas_.width);
    const int cell = cell_of_row_[y] * columns_ + cell_of_column_[x];
    const Eigen::Vector2d at = apply(to_template, {double(x), double(y)});
    const double gu = double(target.slope_u[i]), gv = double(target.slope_v[i]);
    jacobian_.row(i).head(motions) =
        jacobian_row(motion, at.x(), at.y(), gu, gv).cwiseProduct(unit).cast<float>().transpose();
    jacobian_.row(i).segment<kLight>(motions) << target_[i] - middle, 10, float(at.x() / 5),
        float(at.y() / 5);
    jacobian_.row(i).tail<PixelTemplate::kBlurs>() = target.blurs.row(i);
    size_[cell] += 1;
    contrast_[cell] += float(gu * gu + gv * gv);
    Index k = 0;
    for (Index a = 0; a < unknowns; ++a)
      for (Index b = a; b < unknowns; ++b)
        cell_hessian_(k++, cell) += jacobian_(i, a) * jacobian_(i, b);
  }
  contrast_ = contrast_.cwiseQuotient(size_);
  hessian_ = cell_hessian_.rowwise().sum();
  even_.compute(normal_matrix());
}

/// The weights from what is left of the residual.
void Polisher::weigh() {
  error_.setZero();
  const int cell = canvas_.hog.cell;
  const float* rest = rest_.data();
  for (int y = 0; y < canvas_.height; ++y, rest += canvas_.width) {
    float* errors = error_.data() + cell_of_row_[static_cast<std::size_t>(y)] * columns_;
    for (int c = 0; c < columns_; ++c) {
      const int last = c + 1 == columns_ ? canvas_.width : (c + 1) * cell;
      float sum = 0;
      for (int x = c * cell; x < last; ++x) sum += rest[x] * rest[x];
      errors[c] += sum;
    }
  }
  error_ = error_.array() / (size_.array() * (kNoise + kSlip * contrast_.array()));
  sorted_ = error_;
  float* middle = sorted_.data() + sorted_.size() / 2;
  std::nth_element(sorted_.data(), middle, sorted_.data() + sorted_.size());
  const float odd = kOdd * std::max(*middle, 0.25F);
  weights_ = (1 + error_.array() / odd).square().inverse();
}

/// The unknowns that explain the residual best under the weights.
void Polisher::solve() {
  const int cell = canvas_.hog.cell;
  for (int y = 0; y < canvas_.height; ++y) {
    const float* weights = weights_.data() + cell_of_row_[static_cast<std::size_t>(y)] * columns_;
    const float* from = residual_.data() + y * canvas_.width;
    float* to = rest_.data() + y * canvas_.width;
    for (int c = 0; c < columns_; ++c) {
      const int last = c + 1 == columns_ ? canvas_.width : (c + 1) * cell;
      for (int x = c * cell; x < last; ++x) to[x] = weights[c] * from[x];
    }
  }
  slope_.noalias() = jacobian_.transpose() * rest_;
  hessian_.noalias() = cell_hessian_ * weights_;
  const Side side = slope_.cast<double>();
  unknowns_ = normal_matrix().llt().solve(side).cast<float>();
}

/// The sum of the cells' Hessians under the weights, as hessian_ holds it.
Polisher::Square Polisher::normal_matrix() const {
  const Index motions = parameter_count(motion_), unknowns = motions + kNuisance;
  Square h(unknowns, unknowns);
  Index k = 0;
  for (Index a = 0; a < unknowns; ++a)
    for (Index b = a; b < unknowns; ++b) h(b, a) = double(hessian_[k++]);
  // A direction that the template does not tell is left where the maps put it.
  h.diagonal().head(motions).array() += kStay * h.diagonal().head(motions).mean();
  h.diagonal().tail<kNuisance>() *= 1 + kStay;
  h.diagonal().array() += 1e-6;
  return h;
}

/// The same where all weigh alike: their matrix is the template's and was factored once.
void Polisher::solve_evenly() {
  slope_.noalias() = jacobian_.transpose() * residual_;
  const Side side = slope_.cast<double>();
  unknowns_ = even_.solve(side).cast<float>();
}

void Polisher::look(image::ByteView view, const Warp& warp) {
  sample(view, warp, canvas_, {seen_.data(), canvas_.width, canvas_.height});
}

Warp Polisher::operator()(image::ByteView view, const Warp& start, bool covered) {
  const Index motions = parameter_count(motion_);
  const Parameters unit = unit_steps(motion_);
  weights_.setOnes();
  Warp correction = Warp::Identity();
  double moved = 0;
  const int iterations = covered ? kCoveredSteps : kPolishSteps;
  for (int k = 0; k < iterations; ++k) {
    look(view, compose(start, correction));
    residual_ = seen_ - target_;
    if (!covered) {
      solve_evenly();
    } else {
      if (k > 0) {
        // What the light and blur of the last step do not explain is something else.
        rest_ = residual_;
        rest_.noalias() -= jacobian_.rightCols<kNuisance>() * unknowns_.tail<kNuisance>();
        weigh();
      } else {
        for (int i = 0; i < kReweighted; ++i) {
          solve();
          rest_ = residual_;
          rest_.noalias() -= jacobian_ * unknowns_;
          weigh();
        }
      }
      solve();
    }
    const double step = double(unknowns_.head(motions).norm());
    moved += step;
    if (!(moved <= kFarthest)) {
      look(view, start);
      return Warp::Identity();
    }
    const Parameters p = unknowns_.head(motions).cast<double>().cwiseProduct(unit);
    correction = compose(correction, inverse(warp_of(motion_, p)));
    if (step < kStill) break;
  }
  if (!covered) {
    rest_ = residual_;
    rest_.noalias() -= jacobian_ * unknowns_;
    weigh();
  }
  return correction;
}

double Polisher::bend() {
  const Index motions = parameter_count(motion_);
  const Index along = motion_ == Motion::homography ? 4 : motions - 2;  // the translation's columns
  const int across = (columns_ + kBlock - 1) / kBlock;
  // Each block by itself: seen - t = (slopes of t) d + a t + b. Noise alone moves nothing far.
  using Normal = Eigen::Matrix<double, 4, 5>;
  std::vector<Normal> normals(blocks_.size(), Normal::Zero());
  for (Index i = 0; i < seen_.size(); ++i) {
    const auto x = static_cast<std::size_t>(i % canvas_.width);
    const auto y = static_cast<std::size_t>(i / canvas_.width);
    Eigen::Matrix<double, 5, 1> f;
    f << double(jacobian_(i, along)), double(jacobian_(i, along + 1)),
        double(target_[i] - kMiddleGrey), 10, double(seen_[i] - target_[i]);
    const int block = cell_of_row_[y] / kBlock * across + cell_of_column_[x] / kBlock;
    normals[static_cast<std::size_t>(block)] += f.head<4>() * f.transpose();
  }
  std::vector<std::pair<double, double>> moved;  // how far, and the block's contrast
  double whole = 0;
  for (Normal& normal : normals) {
    const double contrast = std::sqrt(normal(0, 0) + normal(1, 1));
    normal.leftCols<4>().diagonal().array() += 10 * double(kNoise);
    const Eigen::Vector4d answer = normal.leftCols<4>().llt().solve(normal.col(4));
    moved.emplace_back(answer.head<2>().norm(), contrast);
    whole += contrast;
  }
  std::sort(moved.begin(), moved.end());
  double beyond = 0;
  for (auto block = moved.rbegin(); block != moved.rend(); ++block)
    if ((beyond += block->second) >= whole / 4) return block->first;
  return 0;
}

double Polisher::foreign() const {
  constexpr int kShift = 2, kSide = 2 * kShift + 1;  // canvas pixels to either side
  constexpr int kMiddle = kSide * kSide / 2;
  const int cell = canvas_.hog.cell;
  float foreign = 0, whole = 0;
  for (int row = 0; row < rows_; ++row)
    for (int column = 0; column < columns_; ++column) {
      const int left = column * cell, top = row * cell;
      const int right = column + 1 == columns_ ? canvas_.width : left + cell;
      const int bottom = row + 1 == rows_ ? canvas_.height : top + cell;
      float best = -1, contrast = 0;
      for (int k = 0; k < kSide * kSide && best < kAlike; ++k) {
        // Where it is comes first: there the search ends for most.
        const int place = k == 0 ? kMiddle : k <= kMiddle ? k - 1 : k;
        const int dx = place % kSide - kShift, dy = place / kSide - kShift;
        float n = 0, s = 0, t = 0, ss = 0, tt = 0, st = 0;
        for (int y = std::max(top, -dy); y < std::min(bottom, canvas_.height - dy); ++y) {
          const float* target = target_.data() + y * canvas_.width;
          const float* seen = seen_.data() + (y + dy) * canvas_.width + dx;
          for (int x = std::max(left, -dx); x < std::min(right, canvas_.width - dx); ++x) {
            const float a = seen[x] - kMiddleGrey, b = target[x] - kMiddleGrey;
            n += 1;
            s += a;
            t += b;
            ss += a * a;
            tt += b * b;
            st += a * b;
          }
        }
        if (n == 0) continue;
        const float vs = ss - s * s / n, vt = tt - t * t / n;
        if (k == 0) contrast = std::sqrt(std::max(vt, 0.F));
        best = std::max(best, (st - s * t / n) / std::sqrt((vs + kNoise * n) * (vt + kNoise * n)));
      }
      whole += contrast;
      if (best < kAlike) foreign += contrast;
    }
  return double(foreign / std::max(whole, 1e-6F));
}

double Polisher::uncertainty(double noise) const {
  const Index motions = parameter_count(motion_);
  const Eigen::MatrixXd j = jacobian_.cast<double>();
  Eigen::MatrixXd h = j.transpose() * j;
  h.diagonal().array() += 1e-6;
  // The light and the blur are not known either.
  const Eigen::MatrixXd covariance = h.llt().solve(Eigen::MatrixXd::Identity(h.rows(), h.cols()));
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(
      covariance.topLeftCorner(motions, motions), Eigen::EigenvaluesOnly);
  return noise * std::sqrt(std::max(axes.eigenvalues().maxCoeff(), 0.0));
}

double Polisher::covered() const {
  return double((weights_.array() < kStrange).count()) / double(weights_.size());
}

std::vector<Polisher::Block>& Polisher::blocks() {
  const int across = (columns_ + kBlock - 1) / kBlock, cell = canvas_.hog.cell;
  sums_.setZero();
  for (int y = 0; y < canvas_.height; ++y) {
    const int row = cell_of_row_[static_cast<std::size_t>(y)];
    const float* s = seen_.data() + y * canvas_.width;
    const float* t = target_.data() + y * canvas_.width;
    for (int c = 0; c < columns_; ++c) {
      const int last = c + 1 == columns_ ? canvas_.width : (c + 1) * cell;
      Eigen::Array<float, 6, 1> sum = Eigen::Array<float, 6, 1>::Zero();
      for (int x = c * cell; x < last; ++x) {
        const float seen = s[x] - kMiddleGrey, target = t[x] - kMiddleGrey;
        sum[0] += 1;
        sum[1] += seen;
        sum[2] += target;
        sum[3] += seen * seen;
        sum[4] += target * target;
        sum[5] += seen * target;
      }
      sums_.col(row / kBlock * across + c / kBlock) += sum.matrix();
    }
  }
  float whole = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const auto sum = sums_.col(static_cast<Index>(b));
    const float n = sum[0], ss = sum[3] - sum[1] * sum[1] / n, tt = sum[4] - sum[2] * sum[2] / n;
    const float st = sum[5] - sum[1] * sum[2] / n;
    // A block without contrast correlates with nothing.
    blocks_[b].correlation = st / std::sqrt((ss + kNoise * n) * (tt + kNoise * n));
    blocks_[b].share = std::sqrt(std::max(tt, 0.F));
    whole += blocks_[b].share;
  }
  for (Block& block : blocks_) block.share /= std::max(whole, 1e-6F);
  return blocks_;
}

}  // namespace sdm::rigid
