#include "sdm/pose/train/rigid_shape.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "pose/check.h"
#include "pose/scaled_orthography.h"

namespace sdm::pose {
namespace {

using Eigen::Index;
using Matrix23 = Eigen::Matrix<double, 2, 3>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

constexpr std::size_t least_views = 6;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

void check(std::span<const Points2> views, const RigidShapeOptions& options) {
  const Index n = views.empty() ? 0 : views.front().cols();
  if (n < least_points)
    throw Error(formatted("views of {} points, expected at least {}", n, least_points));
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (views[v].cols() != n)
      throw Error(
          formatted("view {} has {} points, expected {} as the first one", v, views[v].cols(), n));
    if (views[v].array().isInf().any())
      throw Error(
          formatted("view {} has an infinite point, expected numbers, or NaN if unseen", v));
  }
  const std::vector<int>& mirror = options.mirror;
  if (!mirror.empty() && static_cast<Index>(mirror.size()) != n)
    throw Error(formatted("the mirror has {} points, the views {}", mirror.size(), n));
  for (std::size_t p = 0; p < mirror.size(); ++p)
    if (mirror[p] < 0 || mirror[p] >= n || mirror[at(mirror[p])] != static_cast<int>(p))
      throw Error(formatted("point {} has the mirror partner {}, which is not its partner's", p,
                            mirror[p]));
  if (options.front < -1 || options.front >= n)
    throw Error(formatted("the front point is {}, expected -1 to {}", options.front, n - 1));
  if (options.iterations < 1)
    throw Error(formatted("{} iterations, expected 1 or more", options.iterations));
  if (!(options.outlier_views >= 0))
    throw Error(formatted("outlier_views is {}, expected 0 or more", options.outlier_views));
}

/// The view of the mirrored scene: x turns round, and the points change sides.
Points2 mirrored(const Points2& view, const std::vector<int>& mirror) {
  Points2 other(2, view.cols());
  for (Index p = 0; p < view.cols(); ++p)
    other.col(p) << -view(0, mirror[at(p)]), view(1, mirror[at(p)]);
  return other;
}

void symmetrise(Points3& shape, const std::vector<int>& mirror) {
  for (Index p = 0; p < shape.cols() && !mirror.empty(); ++p) {
    const Index q = mirror[at(p)];
    if (q < p) continue;
    const Eigen::Vector3d half = (shape.col(p) + shape.col(q)) / 2;
    const double x = q == p ? 0 : (shape(0, p) - shape(0, q)) / 2;
    shape.col(p) << x, half.y(), half.z();
    shape.col(q) << -x, half.y(), half.z();
  }
}

void centre_and_scale(Points3& shape, bool symmetric) {
  Eigen::Vector3d centre = shape.rowwise().mean();
  if (symmetric) centre.x() = 0;  // it is but for rounding
  shape.colwise() -= centre;
  shape /= std::sqrt(shape.squaredNorm() / static_cast<double>(shape.cols()));
}

/// l^T m for l = (L00, L11, L22, L01, L02, L12) is a^T L b.
Vector6 products(const Eigen::Vector3d& a, const Eigen::Vector3d& b) {
  Vector6 m;
  m << a.x() * b.x(), a.y() * b.y(), a.z() * b.z(), a.x() * b.y() + a.y() * b.x(),
      a.x() * b.z() + a.z() * b.x(), a.y() * b.z() + a.z() * b.y();
  return m;
}

/// Tomasi and Kanade: views = cameras * basis of rank 3, and the basis made such that the two rows
/// of every camera are orthogonal and of one length.
Points3 factorise(const std::vector<Points2>& views, const RigidShapeOptions& options) {
  const Index n = views.front().cols();
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(n, n);
  for (const Points2& view : views) gram.noalias() += view.transpose() * view;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes(gram);
  if (modes.eigenvalues()[n - 3] < 1e-6 * modes.eigenvalues()[n - 1])
    throw Error(
        "the views do not tell a depth, expected views of a solid object from several sides");
  const Points3 basis = modes.eigenvectors().rightCols<3>().transpose();

  Eigen::Matrix<double, 6, 6> normal = Eigen::Matrix<double, 6, 6>::Zero();
  Vector6 length = Vector6::Zero();
  for (const Points2& view : views) {
    const Matrix23 camera = view * basis.transpose();
    const Eigen::Vector3d i = camera.row(0), j = camera.row(1);
    const Vector6 same = products(i, i) - products(j, j), square = 2 * products(i, j);
    normal += same * same.transpose() + square * square.transpose();
    length += products(i, i) + products(j, j);
  }
  // Least squares under a fixed sum of lengths. A part of the scale keeps exact data solvable.
  normal.diagonal().array() += 1e-12 * normal.trace();
  Vector6 l = normal.ldlt().solve(length);
  l *= 2 * static_cast<double>(views.size()) / length.dot(l);
  Eigen::Matrix3d metric;
  metric << l[0], l[3], l[4], l[3], l[1], l[5], l[4], l[5], l[2];
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> upgrade(metric);
  const double largest = upgrade.eigenvalues()[2];
  if (!(largest > 0)) throw Error("the views fit no rigid shape, expected one object in all");
  const Eigen::Vector3d root = upgrade.eigenvalues().cwiseMax(1e-3 * largest).cwiseSqrt();
  const Eigen::Matrix3d q = upgrade.eigenvectors() * root.asDiagonal();

  // Axes: across is the mirror's normal, or else where the images' x points on average.
  Eigen::Vector3d across = Eigen::Vector3d::Zero(), down = Eigen::Vector3d::Zero();
  for (const Points2& view : views) {
    const Matrix23 camera = view * basis.transpose() * q;
    across += camera.row(0);
    down += camera.row(1);
  }
  Points3 shape = q.inverse() * basis;
  if (!options.mirror.empty()) {
    Eigen::Matrix3d spread = Eigen::Matrix3d::Zero();
    for (Index p = 0; p < n; ++p) {
      const Eigen::Vector3d pair = shape.col(p) - shape.col(options.mirror[at(p)]);
      spread += pair * pair.transpose();
    }
    const Eigen::Vector3d normal_of_mirror =
        Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(spread).eigenvectors().col(2);
    across =
        normal_of_mirror.dot(across) < 0 ? Eigen::Vector3d(-normal_of_mirror) : normal_of_mirror;
  }
  across.normalize();
  down = (down - across * across.dot(down)).normalized();
  Eigen::Matrix3d axes;
  axes << across.transpose(), down.transpose(), across.cross(down).transpose();
  shape = axes * shape;

  const Eigen::Vector3d centre = shape.rowwise().mean();
  const Points3 arms = shape.colwise() - centre;
  const double depth = options.front >= 0
                           ? -arms(2, options.front)
                           : arms.row(2).dot(arms.topRows<2>().colwise().squaredNorm());
  if (depth < 0) shape.row(2) *= -1;
  return shape;
}

/// The rotation that brings the mean of the views to identity; with a mirror only about x.
Eigen::Matrix3d level(const Eigen::Matrix3d& sum_of_rotations, bool symmetric) {
  if (symmetric)
    return Eigen::AngleAxisd(std::atan2(sum_of_rotations(2, 1) - sum_of_rotations(1, 2),
                                        sum_of_rotations(1, 1) + sum_of_rotations(2, 2)),
                             Eigen::Vector3d::UnitX())
        .toRotationMatrix();
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(sum_of_rotations,
                                              Eigen::ComputeFullU | Eigen::ComputeFullV);
  const Eigen::Matrix3d uv = svd.matrixU() * svd.matrixV().transpose();
  return uv.determinant() > 0 ? uv : Eigen::Matrix3d(Eigen::Matrix3d::Identity());
}

}  // namespace

RigidShape learn_rigid_shape(std::span<const Points2> input, const RigidShapeOptions& options) {
  check(input, options);
  const Index n = input.front().cols();
  const std::vector<int>& mirror = options.mirror;
  const bool symmetric = !mirror.empty();

  // Every view centred and of one size, so that large pictures do not count more.
  std::vector<Points2> views, whole;
  for (const Points2& view : input) {
    Eigen::Vector2d sum = Eigen::Vector2d::Zero();
    double seen = 0, squares = 0;
    for (Index p = 0; p < n; ++p)
      if (is_seen(view, p)) sum += view.col(p), ++seen;
    if (seen < static_cast<double>(least_points)) continue;
    Points2 centred = view.colwise() - sum / seen;
    for (Index p = 0; p < n; ++p)
      if (is_seen(view, p)) squares += centred.col(p).squaredNorm();
    if (!(squares > 0)) continue;
    centred /= std::sqrt(squares / seen);
    if (centred.allFinite()) {
      whole.push_back(centred);
      if (symmetric) whole.push_back(mirrored(centred, mirror));
    }
    views.push_back(std::move(centred));
  }
  const std::size_t count = symmetric ? whole.size() / 2 : whole.size();
  if (count < least_views)
    throw Error(
        formatted("{} views have all their points, expected at least {}", count, least_views));

  RigidShape result;
  result.points = factorise(whole, options);
  symmetrise(result.points, mirror);
  centre_and_scale(result.points, symmetric);
  result.weights = Eigen::VectorXd::Ones(n);

  std::vector<ScaledView> cameras(views.size());
  std::vector<double> residuals(views.size());
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const Points3 before = result.points;
    for (std::size_t v = 0; v < views.size(); ++v) {
      const ScaledView camera = fit_view(before, views[v], result.weights);
      double sum = 0, total = 0;
      for (Index p = 0; p < n; ++p) {
        if (!is_seen(views[v], p)) continue;
        const Eigen::Vector2d there = (views[v].col(p) - camera.position) / camera.scale;
        sum +=
            result.weights[p] * (there - (camera.rotation * before.col(p)).head<2>()).squaredNorm();
        total += result.weights[p];
      }
      residuals[v] = std::sqrt(sum / total);
      cameras[v] = camera;
    }
    std::vector<double> sorted = residuals;
    std::erase_if(sorted, [](double r) { return !std::isfinite(r); });
    if (sorted.empty()) throw Error("the views fit no rigid shape, expected one object in all");
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    const double limit = std::pow(options.outlier_views * *middle, 2);

    // Points by linear least squares; with a mirror every view tells of both sides.
    std::vector<Eigen::Matrix3d> normal(at(n), 1e-12 * Eigen::Matrix3d::Identity());
    Points3 right = 1e-12 * before;
    Eigen::VectorXd variance = Eigen::VectorXd::Zero(n), says = Eigen::VectorXd::Zero(n);
    Eigen::Matrix3d turns = Eigen::Matrix3d::Zero();
    for (std::size_t v = 0; v < views.size(); ++v) {
      const ScaledView& camera = cameras[v];
      const double r2 = residuals[v] * residuals[v];
      if (!std::isfinite(r2)) continue;
      // Geman and McClure's weight.
      const double say = limit > 0 ? std::pow(limit / (r2 + limit), 2) : 1;
      const Matrix23 rows = camera.rotation.topRows<2>();
      Matrix23 other = rows;  // the same view seen in the mirror, as a view of the partner
      other.col(0) *= -1;
      turns += say * camera.rotation;
      for (Index p = 0; p < n; ++p) {
        if (!is_seen(views[v], p)) continue;
        const Eigen::Vector2d there = (views[v].col(p) - camera.position) / camera.scale;
        normal[at(p)].noalias() += say * rows.transpose() * rows;
        right.col(p).noalias() += say * rows.transpose() * there;
        const Index q = symmetric ? mirror[at(p)] : p;
        if (symmetric) {
          normal[at(q)].noalias() += say * other.transpose() * other;
          right.col(q).noalias() += say * other.transpose() * there;
        }
        const double error = say * (there - rows * before.col(p)).squaredNorm() / 2;
        for (const Index side : {p, q}) variance[side] += error / 2, says[side] += say / 2;
      }
    }
    for (Index p = 0; p < n; ++p) result.points.col(p) = normal[at(p)].ldlt().solve(right.col(p));
    result.points = level(turns, symmetric) * result.points;
    symmetrise(result.points, mirror);
    centre_and_scale(result.points, symmetric);
    if (!result.points.allFinite())
      throw Error("the views fit no rigid shape, expected one object in all");

    variance = variance.cwiseQuotient(says.cwiseMax(1e-300));
    result.residual = std::sqrt(variance.mean());
    // No point may rule alone, and exact data has no variance at all.
    variance = variance.cwiseMax(0.01 * variance.mean() + 1e-16);
    result.weights = variance.cwiseInverse();
    result.weights /= result.weights.mean();
    if ((result.points - before).cwiseAbs().maxCoeff() < 1e-6) break;
  }
  return result;
}

}  // namespace sdm::pose
