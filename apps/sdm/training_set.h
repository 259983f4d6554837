#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/sdm/rendering.h"
#include "apps/sdm/world.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/detector.h"
#include "sdm/face/train/trainer.h"

namespace sdm::app {

/// The boxes that a detector of our own finds, one detector a thread.
class BoxFinder {
 public:
  BoxFinder(const std::string& name, int threads);

  /// The box that covers the points best; without width where none lies on them. No landmark model
  /// verifies: the one that will is not trained yet.
  face::Box find(image::ByteView grey, const face::Shape& points, int thread);

 private:
  face::DetectorModel model_;
  std::vector<std::optional<face::Detector>> detectors_;
};

/// Annotated faces with their pictures, those of this rank, by file and points: the order of lines
/// does not matter.
struct TrainingSet {
  std::vector<face::TrainingFace> faces;
  face::Annotations annotations;    // of the same faces
  std::vector<double> pixel_sizes;  // of a pixel of each face's picture, which may be shrunk
};

struct TrainingSetOptions {
  std::filesystem::path images;
  bool skip_bad = false, strict = false;
  int threads = 0;
  /// Whose boxes: those of a table by these names, after those that are found; else the
  /// annotations' own.
  std::optional<face::BoxTable> boxes;
  std::vector<std::string> detectors;
  BoxFinder* finder = nullptr;
  bool whole_picture = false;
  /// Of several ranks each reads its own part of the pictures. May be null.
  World* world = nullptr;
  /// Pictures are shrunk to what a canvas of this recipe shows.
  face::Recipe recipe;
};

/// The annotations alone, sorted. What was skipped is told on stderr.
face::Annotations read_sorted(const std::filesystem::path& truth,
                              const TrainingSetOptions& options);

/// So many faces of 68 points that are yet to be drawn, each with a box.
face::Annotations faces_to_draw(Index count);
/// Draws them, numbered from `first`, of several ranks each its own part, without files; of each
/// only what training looks at stays in memory.
TrainingSet draw_training_set(face::Annotations annotations, std::uint64_t first,
                              const RenderingArguments& rendering,
                              const TrainingSetOptions& options);

/// Reads their pictures. Warns of what makes no sense, on stderr. Throws: a picture cannot be read,
/// unless bad ones are skipped, telling which.
TrainingSet read_training_set(face::Annotations annotations, const std::string& title,
                              const TrainingSetOptions& options);

}  // namespace sdm::app
