#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sdm/face/detector_model.h"
#include "sdm/face/train/trainer.h"

namespace sdm::face {

/// A picture to learn from what is no face: windows that overlap none of the boxes.
struct Background {
  image::Image<std::uint8_t> picture;
  std::vector<Box> objects;  // every face, also those without landmarks
};

/// How to train a detector. Angles in degrees.
struct DetectorTrainerOptions {
  /// As in TrainerOptions. Without a mirror there are no templates of turned faces.
  std::vector<int> mirror;
  UnitPoints unit{-1, -1};

  int cells = 10;                        // of the longer side of a window
  int border = 1;                        // of them, on either side, around the mean shape
  double upright = 12;                   // faces that lean less, to either side, are upright
  std::vector<double> leans = {22, 42};  // middles of the leaning templates
  double lean = 11;                      // how far theirs reach to either side
  /// Of the faces sorted by how much they turn, to whichever side, the upright template sees this
  /// share, and the turned ones those beyond theirs.
  double frontal_share = 0.7, turned_from = 0.5;
  bool gate = true;

  int views = 2;          // windows drawn of each face and template
  int windows = 150;      // drawn from each background picture
  int rounds = 3;         // of mining what is taken for a face
  int hard = 100;         // windows mined from a picture and template in a round, at most
  double penalty = 1e-3;  // ridge, relative to the features' energy
  /// The thresholds are such that this share of the held-out faces is found by some window: passes
  /// the gate, and scores enough.
  double gate_recall = 0.999, recall = 0.985;

  std::uint64_t seed = 1;
  int threads = 0;
  /// The other ranks, each with its own part of the faces and of the backgrounds; null: none.
  Communicator* communicator = nullptr;
  std::string name = "detector", provenance, licence;

  /// Throws Error naming the option that is out of range.
  void validate() const;
};

/// What became of a template.
struct TemplateSummary {
  std::string name;
  int faces = 0, others = 0;  // windows it was learned from
  double passed = 0;          // windows it passes of a million on held-out backgrounds
};

struct DetectorObserver {
  /// How far it is, 0 to 1, and what it does now.
  std::function<void(double share, const std::string& activity)> progress;
};

struct TrainedDetector {
  DetectorModel model;
  Shape mean;  // of the faces; a face is where this shape is
  std::vector<TemplateSummary> templates;
  double recall = 0;  // of held-out faces, upright and leaning
};

/// Learns linear templates of windows. They begin as whitened templates, w = S^-1 (m - m0): the
/// least-squares classifier, in closed form from the streamed second moments of windows on faces
/// and of all others (Hariharan, Malik, Ramanan 2012). Then, in rounds, the windows of the
/// backgrounds that a template takes for faces are added, and least squares is repeated on those
/// windows alone that are not yet on their side with a margin: Newton's method on the squared hinge
/// loss (Chapelle 2007). Every fifth face and background is held out and sets the thresholds.
/// Throws Error naming what is missing or out of range.
TrainedDetector train_detector(const std::vector<TrainingFace>& faces,
                               const std::vector<Background>& backgrounds,
                               const DetectorTrainerOptions& options,
                               const DetectorObserver& observer = {});

}  // namespace sdm::face
