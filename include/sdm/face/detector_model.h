#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sdm/face/model.h"
#include "sdm/io/model.h"

namespace sdm::face {

/// A linear classifier of windows: the score of the cells f of a window is
/// `scale * weights^T f + bias`, the log odds that it shows a face as this template knows them.
struct DetectorTemplate {
  std::string name;  // "upright", "turned left", ...: for people
  float roll = 0;    // of the faces it knows, radians from the x axis towards y
  float scale = 1, bias = 0;
  /// Row of cells by row, cell by cell, bin by bin (image/cell_grid.h): columns x rows x 8.
  std::vector<std::int8_t> weights;
};

/// What a Detector scans pictures with and a model file of kind "detector" holds.
struct DetectorModel {
  static constexpr int kMaxCells = 32;  // a side of a window
  static constexpr int kMaxTemplates = 64;

  /// A window has columns x rows cells of `cell` units of the face. Its centre is that of the face,
  /// where the mean shape has its 0.
  int columns = 10, rows = 10;
  float cell = 0.2F;
  /// Windows that score less than its threshold are looked at no further: one template that knows
  /// all faces a little saves the time of the others. Without weights: there is none.
  DetectorTemplate gate;
  float gate_threshold = 0;
  std::vector<DetectorTemplate> templates;
  /// A window whose best template scores this much is a candidate.
  float threshold = 0;
  std::string name, provenance, licence;

  bool has_gate() const { return !gate.weights.empty(); }
  int features() const;
  /// How the windows lie around faces, as boxes of a detector.
  BoxConvention convention() const;

  static DetectorModel load(const std::filesystem::path& path);
  static DetectorModel from_model(const io::Model& file);
  io::Model to_model() const;
  void save(const std::filesystem::path& path) const;

  /// Throws Error naming what does not fit together.
  void validate() const;
};

}  // namespace sdm::face
