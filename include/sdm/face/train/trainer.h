#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sdm/descent/train/train.h"
#include "sdm/face/model.h"
#include "sdm/face/train/mean_shape.h"
#include "sdm/image/image_view.h"

namespace sdm::face {

/// A face to learn from: a grey picture, its landmarks, and the boxes of each detector in the order
/// of TrainerOptions::detectors (without width where nothing was found, or left out).
struct TrainingFace {
  image::Image<std::uint8_t> picture;
  Shape truth;  // NaN where a point is not known
  std::vector<Box> boxes;
  std::vector<bool> hidden{};  // of each point: by the face itself; empty: none
  double weight = 1;           // how much it counts
  Index group = -1;  // faces of one group (person, specimen) are held out together; -1: its own
};

/// How to train. Begin with a preset: without stages there is nothing to train.
struct TrainerOptions {
  Recipe recipe;

  /// The partner of each point in a mirror: every face then teaches its mirror image too, and the
  /// model has half the size. Empty: none.
  std::vector<int> mirror;
  UnitPoints unit{-1, -1};
  /// Kept in the model, for checking what it is measured or taught with. Empty: not known.
  std::vector<std::string> point_names{};

  /// The first one's boxes are the model's default and their deviations give the random starts.
  std::vector<std::string> detectors = {"box"};
  /// Starts of each face: first from the boxes of the first `box_starts` detectors, the rest from
  /// the true place with noise as the first detector's.
  int starts = 5;
  int box_starts = 2;
  /// Deviation of the roll of those with noise, in radians.
  float start_roll = 0;

  /// Further copies of each face, drawn turned in space (turned_face.h), and the points that label
  /// a visible contour, such as the jaw's. The mean shape and the boxes stay those of the faces.
  int turned = 0;
  double turned_weight = 1;  // of a copy, where its face counts 1
  std::vector<int> outline{};

  /// Faces for every stage but the first, as many as are given, in place of them: drawn ones never
  /// run out. A stage then learns from faces that no map before it has seen. All points must be
  /// known; not with turned copies, nor with a checkpoint.
  std::function<std::vector<TrainingFace>(int stage)> fresh{};

  int folds = 4;
  bool cross_fit = true;
  /// Relative ridge penalty of each stage, the last one for all further stages.
  std::vector<double> penalties = {0.3};
  /// Choose each stage's penalty among `penalties` by held-out error instead. That error is a mean
  /// of squares, which cares less for the many good faces than the mean error does.
  bool held_out_penalty = false;
  double pca_energy = 1;
  Index rank = 0;
  double rank_tolerance = 0;
  /// Samples farther off than this many units count less, as robust / error; 0: all the same.
  double robust = 0.04;
  /// With a mirror: learn how far the labels lie beside what both sides tell (Model::label_offset).
  bool label_offset = true;
  /// Learn of each point when it is seen and right (train_visibility.h). The presets of faces do.
  bool visibility = false;
  /// Keep only the stages that lower the held-out error.
  bool fewest_stages = false;

  std::uint64_t seed = 1;
  int threads = 0;
  std::string checkpoint;
  /// The other ranks of a distributed training, each with its own part of the faces (null: none).
  /// Groups are numbered across all ranks; only the root needs dev faces. The root's model is
  /// whole; mean shape, boxes and points in space are learned from up to 100,000 faces.
  Communicator* communicator = nullptr;

  std::string name = "face", provenance, licence;

  /// "accurate", "fast" or "paper". Where the parts of the face are known, stages of single parts
  /// follow those of the whole. Throws Error on another name.
  static TrainerOptions preset(const std::string& name, const FaceParts& parts = {});
  void validate() const;
};

/// One stage, and the error from the first detector's boxes, mean point distance over the unit: of
/// the training faces, held out, and on faces that training has not seen (NaN without any).
struct FaceStage {
  StageSummary stage;
  double dev_error = 0;
  double held_out_error = 0;
};

struct TrainerObserver {
  std::function<void(const TrainEstimate&)> estimate;
  std::function<void(const TrainProgress&)> progress;
  std::function<void(const FaceStage&)> stage;
};

struct TrainedFace {
  Model model;
  TrainSummary summary;
  std::vector<FaceStage> stages;
  double dev_start_error = 0;
  double dev_error = 0;         // of the model as it is stored
  std::string shape3d_message;  // why the model knows no points in space; empty: it knows them
};

/// A picture cut and shrunk to what training will look at, so that thousands fit in memory; the
/// points and boxes move with it. Where the object may be far from its box (`whole`) nothing is cut
/// off: the border would tell where it is.
TrainingFace trim(image::ByteView grey, const Shape& truth, std::vector<Box> boxes,
                  const Recipe& recipe, bool whole = false);

/// Learns a landmark model (section "Facial feature detection"). `dev` may be empty. Where points
/// are missing it learns several times, until they are where the maps that have not seen the face
/// find them. Throws Error on faces without a picture, with another number of points, with less
/// than a quarter of them known, or with a shape of no size, naming the face.
TrainedFace train(const std::vector<TrainingFace>& faces, const std::vector<TrainingFace>& dev,
                  const TrainerOptions& options, const TrainerObserver& observer = {});

/// The maps' held-out errors alone, stage by stage, to choose options by.
std::vector<double> held_out_errors(const std::vector<TrainingFace>& faces,
                                    const TrainerOptions& options);

}  // namespace sdm::face
