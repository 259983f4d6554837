#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sdm/base/types.h"
#include "sdm/descent/cascade.h"
#include "sdm/io/model.h"
#include "sdm/pose/refine.h"

namespace sdm::pose {

struct PackedEstimator;  // the maps in single precision, laid out for the batch

/// The poses an estimator is for: a box of Euler angles and translations around a centre.
struct PoseRange {
  Pose centre{Rotation::Identity(), {0, 0, 2000}};
  Eigen::Vector3d rotation_degrees{30, 30, 30};  // half-widths; Q = from_euler(angles) * centre
  Eigen::Vector3d translation{400, 400, 400};    // half-widths, in the object's units

  void validate() const;
};

/// Pose by reversed SDM (section "3D Pose Estimation"): p <- p - R_k (h(p) - U), every step one
/// small matrix product; no Jacobian is formed.
///
/// One cascade covers about +-30 degrees. A wider range is split into a grid over the rotations
/// with a cascade for each cell, as the paper's conclusion proposes. Every cell makes its first
/// step, the one that then explains the image best goes on alone.
///
/// Missing points (a NaN coordinate): the maps were learned with all points, so the unseen ones are
/// filled in first as the combination of seen points that holds for a distant camera, then twice as
/// the pose found projects them. They count neither in the polish nor in the error. The seen points
/// should spread as the object does. Outliers: see RefineOptions::outlier_pixels.
///
/// Everything here is const and thread-safe. Made by train_estimator (pose/train_estimator.h) or
/// loaded; running needs no file system, no BLAS and no threads.
class Estimator {
 public:
  /// A cell of the partition: its start and the maps learned from there.
  struct Cell {
    Rotation start = Rotation::Identity();
    Cascade<double> cascade;
  };

  /// Throws Error if a cascade does not fit the object.
  /// `provenance` says what it was made from, for people.
  Estimator(Points3 object, Camera camera, PoseRange range, std::vector<Cell> cells,
            std::string provenance = {});

  /// As a model of kind "pose", and back; and as a file. Throw Error on another kind or shape.
  io::Model to_model() const;
  static Estimator from_model(const io::Model& model);
  void save(const std::filesystem::path& path) const;
  static Estimator load(const std::filesystem::path& path);

  /// The pose from pixels, one for each object point; with options, polished by `refine`. Throws
  /// Error on another number of points, on fewer than four seen and on an infinite coordinate.
  Estimate estimate(const Points2& pixels) const;
  Estimate estimate(const Points2& pixels, const RefineOptions& refine) const;

  struct BatchOptions {
    int stages = 0;        // run only so many of the cascade; 0: all
    int refine_steps = 0;  // Gauss-Newton steps after it
  };

  /// Many poses at once, in single precision, vectorised across poses.
  /// `pixels`: a column u0 v0 u1 v1 ... a pose. Fills a column qw qx qy qz tx ty tz of `poses` and
  /// the reprojection error for each: infinite where the pose found has a point behind the camera,
  /// NaN, and no pose, where fewer than four points were seen or a coordinate is infinite. Poses
  /// with missing points go one by one through `estimate`. Throws Error on sizes that do not match
  /// and on options below 0.
  void estimate_batch(ConstMatrixRef<float> pixels, const BatchOptions& options,
                      Eigen::Ref<Matrix<float>> poses, VectorRef<float> errors) const;

  const Points3& object() const { return object_; }
  const Camera& camera() const { return camera_; }
  const PoseRange& range() const { return range_; }
  const std::vector<Cell>& cells() const { return cells_; }
  const std::string& provenance() const { return provenance_; }
  int stages() const { return cells_.front().cascade.stages(); }

  /// The same maps behind another camera: they work in normalised coordinates. Pixels of a longer
  /// lens are finer, so the noise the maps were trained for changes with it.
  Estimator with_camera(const Camera& camera) const;

 private:
  Pose descend(const Points2& normalised, int stages) const;
  Estimate estimate(const Points2& pixels, int stages, const RefineOptions* refine) const;

  Points3 object_;
  Camera camera_;
  PoseRange range_;
  std::vector<Cell> cells_;
  std::string provenance_;
  std::shared_ptr<const PackedEstimator> packed_;
};

}  // namespace sdm::pose
