#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sdm/base/types.h"
#include "sdm/face/confidence.h"
#include "sdm/face/recipe.h"
#include "sdm/face/similarity.h"
#include "sdm/face/visibility.h"
#include "sdm/io/model.h"

namespace sdm::face {

/// How a detector's boxes lie around faces, measured on training data: the unit of a face is
/// `scale` box widths, its centre is (dx, dy) widths from the box's centre, and the deviations tell
/// how much single boxes differ from that (in face units; of the logarithm of the size).
struct BoxConvention {
  std::string detector;
  float scale = 0.53F, dx = 0, dy = 0.16F;
  float sigma_x = 0.06F, sigma_y = 0.06F, sigma_log_scale = 0.08F;

  /// Upright, where the box says.
  Similarity similarity(const Box& box) const;
  /// The box that says so: the inverse.
  Box box(const Similarity& similarity) const;
};

/// One stage's map as the aligner runs it: `delta = bias - left (scale * (values^T f) + shape s)`,
/// where f are the patch values and s the weighted shape features.
///
/// In a model with a mirror the map treats both sides alike, so its rows see either sums or
/// differences of mirrored values: f is first folded to these, and the 8-bit `values` have half the
/// size. The first `even` columns see sums, the rest differences.
struct CompactMap {
  io::Tensor values;  // i8 [folded features, rank]: a column is contiguous
  io::Tensor scale;   // f32 [1, rank]
  Index even = 0;
  Matrix<float> shape;  // rank x 2 points
  Matrix<float> left;   // 2 points x rank, of the points that the stage moves
  Vector<float> bias;   // likewise

  Index rank() const { return left.cols(); }
};

/// A trained landmark model: what an Aligner runs and a model file of kind "face" (or
/// "face-on-base", where it has a base) holds.
struct Model {
  Recipe recipe;
  Shape mean;               // face coordinates
  std::vector<int> mirror;  // the partner of each point seen in a mirror; empty: no mirror
  /// What the points are called; empty: nobody said.
  std::vector<std::string> point_names;
  /// The first one is the default.
  std::vector<BoxConvention> boxes;
  std::vector<CompactMap> maps;
  /// The labels' own offset, in face coordinates: maps that treat both sides alike cannot learn
  /// that all labels lie a little to one side, so answers are moved by it. They then agree with the
  /// labels of training; with zero they are where a face and its mirror image agree.
  Eigen::Vector2f label_offset = Eigen::Vector2f::Zero();
  /// The model of other points that runs first (train/train_on_base.h); null: the mean shape is the
  /// start. Both have the same face coordinates, boxes and score. The base has no base itself.
  std::shared_ptr<const Model> base;
  Matrix<float> from_base;  // the start is mean + from_base (base's shape - base's mean)
  /// The points in space as the training faces tell them, and how much each says of the head's pose
  /// (pose/train/rigid_shape.h, pose/head_pose.h). Empty: not known.
  Eigen::Matrix3Xf shape3d;
  Vector<float> shape3d_weights;
  /// Where it is not known, the size of the last step tells instead, by the one of good fits.
  Confidence confidence;
  /// Of each point; not known: all points are taken as seen as the score says.
  Visibility visibility;
  float typical_step = 0.01F;  // of the last stage, in face units
  /// Free text for people and licences.
  std::string name, provenance, licence;

  Index points() const { return mean.cols(); }
  /// Throws Error if there is no such detector; an empty name gives the default.
  const BoxConvention& convention(const std::string& detector = "") const;

  static Model load(const std::filesystem::path& path);
  static Model from_model(const io::Model& file);
  io::Model to_model() const;
  void save(const std::filesystem::path& path) const;

  /// Throws Error naming what does not fit together.
  void validate() const;
};

}  // namespace sdm::face
