#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sdm/face/model.h"

namespace sdm::face {

/// What a model must remember of its training data to learn more (section "Online SDM"): of each
/// stage the inverse of Sigma = sum of w phi phi^T over the training samples.
///
/// The paper takes phi in a PCA space of the features. A stage's map has found a better small space
/// already, that of z in `delta = bias - left z` (model.h): here phi = [z; 1]. A file of kind
/// "face-adaptation", apart from the model, which runs without it.
struct Adaptation {
  std::vector<Matrix<double>> inverse_covariances;  // rank + 1 a side
  std::uint64_t fingerprint = 0;                    // of the model it belongs to
  std::string name, provenance, licence;            // of that model
  std::uint64_t frames = 0;                         // adapted to since training

  /// Where the state of a model is looked for: face.sdm has face.adaptation.sdm.
  static std::filesystem::path beside(const std::filesystem::path& model);

  static Adaptation load(const std::filesystem::path& path);
  static Adaptation from_model(const io::Model& file);
  io::Model to_model() const;
  void save(const std::filesystem::path& path) const;

  /// Throws Error: it is the state of another model, or its sizes are not the model's.
  void require_fits(const Model& model) const;
};

/// A number for the maps and what they look at. A model and its adapted versions have different
/// ones; names, boxes and the like do not count.
std::uint64_t fingerprint(const Model& model);

}  // namespace sdm::face
