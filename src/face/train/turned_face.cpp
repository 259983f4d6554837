#include "sdm/face/train/turned_face.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "image/sample.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

// Lengths are in units of the learned shape, of which the outer eye corners are about 1.5 apart.
// The surface was compared with a scanned head (ICT-FaceKit), which it meets within some 0.1.
constexpr double kReach = 0.3;       // of the correction at a point
constexpr double kLooseness = 0.03;  // of the correction: points that nearly touch may disagree
constexpr double kStep = 0.04;       // of the mesh
// In radii of the head's ellipse: the head goes back as far as kHeadEnd, the background is
// stretched up to kStill and the mesh ends at kMeshEnd.
constexpr double kHeadEnd = 1.3, kStill = 2.3, kMeshEnd = 2.5;
constexpr double kFallOff = 2;        // slope of the head behind its outline
constexpr double kFarAway = 8;        // depth of the background
constexpr double kHiddenDepth = 0.1;  // a point is hidden by what lies so much before it
constexpr double kParallel = 0.6;     // how far, in half widths, an outline may slide inwards
constexpr double kMostTurn = 85;

// Fine steps over the head, coarse ones over what is around it.
std::vector<double> ticks(double middle, double half) {
  constexpr double kCoarse = 6 * kStep;
  std::vector<double> result(1, 0.0);
  while (result.back() < kMeshEnd * half)
    result.push_back(result.back() + (result.back() < 1.4 * half ? kStep : kCoarse));
  std::vector<double> both;
  for (std::size_t i = result.size() - 1; i > 0; --i) both.push_back(middle - result[i]);
  for (const double value : result) both.push_back(middle + value);
  return both;
}

double smooth_step(double t) {
  t = std::clamp(t, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

/// A corner of a triangle: where it is drawn, how deep, and where the picture shows it.
struct Corner {
  Eigen::Vector3d drawn;
  Eigen::Vector2d source;
};

class DepthBuffer {
 public:
  DepthBuffer(image::ByteView source, image::ImageView<std::uint8_t> target)
      : source_(source),
        target_(target),
        depth_(target.width, target.height, std::numeric_limits<double>::infinity()) {}

  void draw(const Corner& a, const Corner& b, const Corner& c) {
    constexpr double kInclusive = -1e-9;  // a pixel on an edge belongs to both sides
    const Eigen::Vector2d p = a.drawn.head<2>(), u = b.drawn.head<2>() - p,
                          v = c.drawn.head<2>() - p;
    const double area = u.x() * v.y() - u.y() * v.x();
    if (!(std::abs(area) > 1e-12)) return;
    const auto [x0, x1] =
        range(std::min({0.0, u.x(), v.x()}), std::max({0.0, u.x(), v.x()}), p.x(), target_.width);
    const auto [y0, y1] =
        range(std::min({0.0, u.y(), v.y()}), std::max({0.0, u.y(), v.y()}), p.y(), target_.height);
    for (int y = y0; y <= y1; ++y)
      for (int x = x0; x <= x1; ++x) {
        const double dx = x - p.x(), dy = y - p.y();
        const double beta = (dx * v.y() - dy * v.x()) / area,
                     gamma = (u.x() * dy - u.y() * dx) / area;
        if (beta < kInclusive || gamma < kInclusive || beta + gamma > 1 - kInclusive) continue;
        const double alpha = 1 - beta - gamma;
        const double z = alpha * a.drawn.z() + beta * b.drawn.z() + gamma * c.drawn.z();
        if (z >= depth_(x, y)) continue;
        depth_(x, y) = z;
        const Eigen::Vector2d from = alpha * a.source + beta * b.source + gamma * c.source;
        image::store(image::sample(source_, static_cast<float>(from.x()),
                                   static_cast<float>(from.y()), image::Border::replicate()),
                     target_(x, y));
      }
  }

  // Whether everything about this place lies before that depth.
  bool hides(const Eigen::Vector3d& point) const {
    const double x = std::round(point.x()), y = std::round(point.y());
    if (!(x >= 1 && y >= 1 && x < target_.width - 1 && y < target_.height - 1)) return false;
    double farthest = -std::numeric_limits<double>::infinity();
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        farthest = std::max(farthest, depth_(static_cast<int>(x) + dx, static_cast<int>(y) + dy));
    return farthest < point.z();
  }

 private:
  static std::pair<int, int> range(double low, double high, double origin, int size) {
    const auto clamped = [&](double v) {
      return static_cast<int>(std::clamp(v, -1.0, static_cast<double>(size)));
    };
    return {std::max(0, clamped(std::ceil(origin + low - 1e-6))),
            std::min(size - 1, clamped(std::floor(origin + high + 1e-6)))};
  }

  image::ByteView source_;
  image::ImageView<std::uint8_t> target_;
  image::Image<double> depth_;
};

}  // namespace

Box moved(const Box& box, const Shape& before, const Shape& after) {
  Eigen::Vector2f by = Eigen::Vector2f::Zero();
  float known = 0;
  for (Index p = 0; p < before.cols(); ++p) {
    if (!before.col(p).allFinite()) continue;
    by += after.col(p) - before.col(p);
    ++known;
  }
  by /= known;
  return {box.x + by.x(), box.y + by.y(), box.width, box.height};
}

/// One face's: what is added to the learned surface, and how the picture shows it.
struct FaceTurner::Surface {
  Eigen::Matrix3Xd weights;
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  double scale = 1;
  Eigen::Vector3d position = Eigen::Vector3d::Zero();

  // In front of the camera, in pixels.
  Eigen::Vector3d seen(const Eigen::Vector3d& point) const {
    return scale * (rotation * point) + position;
  }
};

FaceTurner::FaceTurner(const Eigen::Matrix3Xf& shape3d, const Vector<float>& weights,
                       std::vector<int> outline)
    : shape_(shape3d.cast<double>()),
      estimator_(shape_, weights.cast<double>()),
      outline_(std::move(outline)) {
  const Index points = shape_.cols();
  for (const int p : outline_)
    if (p < 0 || p >= points)
      throw Error(formatted("the outline has a point {}, expected 0 to {}", p, points - 1));
  Index left = 0, right = 0;
  half_width_ = (shape_.row(0).maxCoeff(&right) - shape_.row(0).minCoeff(&left)) / 2;
  top_ = shape_.row(1).minCoeff();
  bottom_ = shape_.row(1).maxCoeff();
  // A face is as high above its widest place, with hair, as below it.
  middle_ = (shape_(1, left) + shape_(1, right)) / 2;
  half_height_ = std::max(bottom_ - middle_, 0.5 * (bottom_ - top_));

  // What stands out, such as a nose, does not bend the base: least absolute residuals.
  Eigen::MatrixXd rows(points, base({0, 0}).size());
  for (Index p = 0; p < points; ++p) rows.row(p) = base(shape_.col(p).head<2>()).transpose();
  const Eigen::VectorXd z = shape_.row(2).transpose();
  Eigen::VectorXd trust = Eigen::VectorXd::Ones(points);
  const auto ridge = 1e-3 * Eigen::MatrixXd::Identity(rows.cols(), rows.cols());
  for (int round = 0; round < 20; ++round) {
    const Eigen::MatrixXd weighted = rows.transpose() * trust.asDiagonal();
    base_weights_ = (weighted * rows + ridge).ldlt().solve(weighted * z);
    trust = (z - rows * base_weights_).cwiseAbs().cwiseMax(0.05).cwiseInverse();
    trust *= static_cast<double>(points) / trust.sum();
  }

  Eigen::MatrixXd kernel(points, points);
  for (Index p = 0; p < points; ++p) kernel.col(p) = near(shape_.col(p).head<2>());
  kernel.diagonal().array() += kLooseness;
  correction_ = kernel.ldlt().solve(Eigen::MatrixXd::Identity(points, points));
  depth_weights_ = correction_ * (z - rows * base_weights_);

  const std::vector<double> xs = ticks(0, half_width_), ys = ticks(middle_, half_height_);
  columns_ = static_cast<Index>(xs.size());
  rows_ = static_cast<Index>(ys.size());
  places_.resize(2, columns_ * rows_);
  for (Index i = 0; i < places_.cols(); ++i)
    places_.col(i) << xs[static_cast<std::size_t>(i % columns_)],
        ys[static_cast<std::size_t>(i / columns_)];
  depths_.resize(places_.cols());
  radii_.resize(places_.cols());
  near_.resize(points, places_.cols());
  for (Index i = 0; i < places_.cols(); ++i) {
    depths_[i] = depth(places_.col(i));
    radii_[i] = radius(places_.col(i));
    near_.col(i) = near(places_.col(i));
  }
}

double FaceTurner::radius(const Eigen::Vector2d& where) const {
  return std::hypot(where.x() / half_width_, (where.y() - middle_) / half_height_);
}

// A polynomial of the height, and one times the ellipse across the width at that height.
Eigen::VectorXd FaceTurner::base(const Eigen::Vector2d& where) const {
  const double v = (where.y() - middle_) / half_height_;
  const double half = half_width_ * std::sqrt(std::max(0.02, 1 - v * v));
  const double u = std::min(1.0, std::abs(where.x()) / half);
  const double e = 1 - std::sqrt(1 - u * u), y = std::clamp(where.y(), top_, bottom_);
  return Eigen::Matrix<double, 6, 1>(1, y, y * y, e, e * y, e * y * y);
}

Eigen::VectorXd FaceTurner::near(const Eigen::Vector2d& where) const {
  return ((shape_.topRows<2>().colwise() - where).colwise().squaredNorm().array() /
          (-2 * kReach * kReach))
      .exp()
      .transpose();
}

double FaceTurner::depth(const Eigen::Vector2d& where) const {
  const double behind = std::clamp(radius(where), 1.0, kHeadEnd) - 1;
  return base(where).dot(base_weights_) + near(where).dot(depth_weights_) +
         kFallOff * half_width_ * behind;
}

Eigen::Vector3d FaceTurner::at(const Surface& surface, const Eigen::Vector2d& where) const {
  return Eigen::Vector3d(where.x(), where.y(), depth(where)) + surface.weights * near(where);
}

pose::HeadPose FaceTurner::pose(const Shape& points) const {
  return estimator_.estimate(points.cast<double>());
}

TurnedFace FaceTurner::turn(image::ByteView grey, const Shape& points, double yaw,
                            double pitch) const {
  if (grey.empty()) throw Error("the picture is empty, expected a face to turn");
  const pose::HeadPose head = pose(points);
  const double to_yaw = head.yaw + yaw, to_pitch = head.pitch + pitch;
  if (!(std::abs(to_yaw) <= kMostTurn && std::abs(to_pitch) <= kMostTurn))
    throw Error(
        formatted("a face turned to a yaw of {} and a pitch of {} degrees, expected at "
                  "most {}",
                  to_yaw, to_pitch, kMostTurn));
  const Index count = points.cols();
  const auto known = [&](Index p) { return points.col(p).allFinite(); };

  Surface surface;
  surface.rotation = head.rotation.toRotationMatrix();
  surface.scale = head.scale;
  surface.position << head.position, 0;
  // What the labels say beyond the pose moves points across the line of sight, never along it.
  Eigen::MatrixX3d lacking = Eigen::MatrixX3d::Zero(count, 3);
  for (Index p = 0; p < count; ++p) {
    if (!known(p)) continue;
    const Eigen::Vector3d seen = surface.seen(shape_.col(p));
    const Eigen::Vector2d off = points.col(p).cast<double>() - seen.head<2>();
    lacking.row(p) = (surface.rotation.leftCols<3>().transpose() *
                      Eigen::Vector3d(off.x(), off.y(), 0) / surface.scale)
                         .transpose();
  }
  surface.weights = (correction_ * lacking).transpose();

  // Where on the surface each label lies.
  Eigen::Matrix2Xd places = shape_.topRows<2>();
  Eigen::Matrix3Xd labelled(3, count);
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  double seen_points = 0;
  for (Index p = 0; p < count; ++p) {
    if (!known(p)) continue;
    const Eigen::Vector2d label = points.col(p).cast<double>();
    const auto off = [&](const Eigen::Vector2d& where) -> Eigen::Vector2d {
      return surface.seen(at(surface, where)).head<2>() - label;
    };
    for (int step = 0; step < 5; ++step) {
      constexpr double kSmall = 1e-3, kLongest = 0.1;
      const Eigen::Vector2d here = places.col(p), lack = off(here);
      Eigen::Matrix2d slope;
      // From both sides, so that a mirrored face moves alike.
      for (int k = 0; k < 2; ++k) {
        const Eigen::Vector2d by = kSmall * Eigen::Vector2d::Unit(k);
        slope.col(k) = (off(here + by) - off(here - by)) / (2 * kSmall);
      }
      // Where the surface is seen from its edge the slope says nothing: damped.
      const Eigen::Matrix2d damped = slope.transpose() * slope + 0.01 * surface.scale *
                                                                     surface.scale *
                                                                     Eigen::Matrix2d::Identity();
      Eigen::Vector2d move = -damped.ldlt().solve(slope.transpose() * lack);
      if (move.norm() > kLongest) move *= kLongest / move.norm();
      if (!(off(here + move).norm() < lack.norm())) break;
      places.col(p) = here + move;
    }
    labelled.col(p) << label, surface.seen(at(surface, places.col(p))).z();
    centre += labelled.col(p);
    ++seen_points;
  }
  centre /= seen_points;

  const Eigen::Matrix3d turned =
      pose::from_yaw_pitch_roll({to_yaw, to_pitch, head.roll}).toRotationMatrix();
  const Eigen::Matrix3d by = turned * surface.rotation.transpose();
  const auto move = [&](const Eigen::Vector3d& seen) -> Eigen::Vector3d {
    return centre + by * (seen - centre);
  };

  TurnedFace result;
  result.picture = image::Image<std::uint8_t>(grey.width, grey.height);
  for (int y = 0; y < grey.height; ++y)
    std::copy_n(grey.row(y), grey.width, result.picture.view().row(y));
  std::vector<Corner> corners(static_cast<std::size_t>(places_.cols()));
  const Eigen::Matrix3Xd bent = surface.weights * near_;
  for (Index i = 0; i < places_.cols(); ++i) {
    const Eigen::Vector3d seen =
        surface.seen(Eigen::Vector3d(places_(0, i), places_(1, i), depths_[i]) + bent.col(i));
    const double moves = 1 - smooth_step((radii_[i] - kHeadEnd) / (kStill - kHeadEnd));
    Corner& corner = corners[static_cast<std::size_t>(i)];
    corner.source = seen.head<2>();
    const Eigen::Vector3d there = move(seen);
    corner.drawn.head<2>() = corner.source + moves * (there.head<2>() - corner.source);
    corner.drawn.z() = moves * there.z() + (1 - moves) * kFarAway * surface.scale;
  }
  DepthBuffer buffer(grey, result.picture);
  for (Index y = 0; y + 1 < rows_; ++y)
    for (Index x = 0; x + 1 < columns_; ++x) {
      const auto i = static_cast<std::size_t>(y * columns_ + x),
                 below = i + static_cast<std::size_t>(columns_);
      // Both halves of the face are cut alike.
      if (2 * x + 2 < columns_) {
        buffer.draw(corners[i], corners[i + 1], corners[below]);
        buffer.draw(corners[i + 1], corners[below], corners[below + 1]);
      } else {
        buffer.draw(corners[i], corners[i + 1], corners[below + 1]);
        buffer.draw(corners[i], corners[below], corners[below + 1]);
      }
    }

  result.points = points;
  result.hidden.assign(static_cast<std::size_t>(count), false);
  for (Index p = 0; p < count; ++p) {
    if (!known(p)) continue;
    Eigen::Vector3d there = move(labelled.col(p));
    result.points.col(p) = there.head<2>().cast<float>();
    there.z() -= kHiddenDepth * surface.scale;
    result.hidden[static_cast<std::size_t>(p)] = buffer.hides(there);
  }
  // A point of the outline slides along the surface, at its own height, to where it is seen
  // farthest out.
  const Eigen::Vector2d down = (turned * Eigen::Vector3d::UnitY()).head<2>().normalized();
  for (const int p : outline_) {
    if (!known(p)) continue;
    constexpr int kSteps = 60;
    const double x = places(0, p), side = x < 0 ? -1 : 1;
    const double end = side * std::max(0.0, std::abs(x) - kParallel * half_width_);
    const Eigen::Vector2d out = side * Eigen::Vector2d(down.y(), -down.x());
    // By how much the surface misses the label: less and less on the way.
    const Eigen::Vector3d off = labelled.col(p) - surface.seen(at(surface, places.col(p)));
    double farthest = -std::numeric_limits<double>::infinity();
    for (int step = 0; step <= kSteps; ++step) {
      const double share = static_cast<double>(step) / kSteps;
      const Eigen::Vector3d on = surface.seen(at(surface, {x + share * (end - x), places(1, p)}));
      const Eigen::Vector2d there = move(on + std::max(0.0, 1 - 3 * share) * off).head<2>();
      if (there.dot(out) <= farthest) continue;
      farthest = there.dot(out);
      result.points.col(p) = there.cast<float>();
    }
  }
  return result;
}

}  // namespace sdm::face
