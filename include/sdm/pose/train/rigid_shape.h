#pragma once

#include <span>
#include <vector>

#include "sdm/pose/points.h"

namespace sdm::pose {

struct RigidShapeOptions {
  /// The partner of each point in a mirror: the shape is then exactly symmetric about x = 0. Empty:
  /// no symmetry.
  std::vector<int> mirror;
  /// Far away, a shape and its reflection in depth look the same from mirrored sides. A point that
  /// stands out towards the camera settles it (the tip of the nose). -1: the shape is taken to
  /// bulge towards the camera, its rim to lie behind its middle.
  int front = -1;
  /// Rounds of alternation; they stop early when the shape stands still.
  int iterations = 40;
  /// Views whose residual is beyond about this many medians lose their say; 0: all count alike.
  double outlier_views = 1.5;
};

/// What many views have in common.
///
/// Gauge: the origin is the mean of the points, their root mean square distance from it is 1. The
/// axes are the camera's (x right, y down, z away) for the mean of all views: what stands upright
/// and looks at the camera on average has the rotation identity.
struct RigidShape {
  Points3 points;
  /// The inverse variance of each point around its projection, mean 1: rigid points count most, an
  /// outline or a mouth that moves least.
  Eigen::VectorXd weights;
  double residual = 0;  // root mean square of a coordinate over points and views, shape units
};

/// The 3D shape of points seen in many images, each of another instance (a face) in another pose:
/// factorisation under scaled orthography (Tomasi and Kanade, 1992) with metric upgrade, then views
/// and shape in turn minimise the weighted reprojection error, which also handles missing points
/// (NaN). Deterministic.
///
/// Needs views without missing points to begin with, and views from more than one side. Throws
/// Error on fewer than four points or six whole views, on sizes that differ, a bad mirror or front,
/// and where the views do not tell a depth.
RigidShape learn_rigid_shape(std::span<const Points2> views, const RigidShapeOptions& options = {});

}  // namespace sdm::pose
