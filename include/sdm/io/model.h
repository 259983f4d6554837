#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sdm/io/tensor.h"

namespace sdm::io {

/// What a model file holds: a kind, a JSON header and named tensors. Which header fields and
/// tensors a kind has is the business of the room that owns it; `io` only carries them safely.
struct Model {
  /// "cascade", "face", "pose": 1 to 16 of a-z, 0-9, '-', '_'.
  std::string kind;
  /// A JSON object as UTF-8 text, kept to the byte. By custom it tells "provenance" and "licence".
  std::string header = "{}";
  /// Names are 1 to 255 of A-Z, a-z, 0-9, '.', '_', '-', '/'.
  std::map<std::string, Tensor, std::less<>> tensors;

  /// Throws an Error that names both kinds if this is another one.
  void require_kind(std::string_view expected) const;

  /// Throws if there is no tensor of this name.
  const Tensor& tensor(std::string_view name) const;

  /// The numbers of a tensor as an Eigen matrix or vector of float or double, from any stored type;
  /// i8 with its companion "NAME.scale" applied. Throws if it is missing or of another shape.
  template <class Scalar>
  Matrix<Scalar> matrix(std::string_view name, Eigen::Index rows = any_size,
                        Eigen::Index cols = any_size) const;
  template <class Scalar>
  Vector<Scalar> vector(std::string_view name, Eigen::Index size = any_size) const;

  /// Stores a tensor as it is. Throws if the name is taken.
  void put(std::string_view name, Tensor tensor);
  /// Stores a matrix narrowed to f16, or to i8 with the companion "NAME.scale".
  void put_f16(std::string_view name, const Tensor& matrix);
  void put_i8(std::string_view name, const Tensor& matrix, ScalePer per);

  friend bool operator==(const Model&, const Model&) = default;
};

/// The model in words, for people: kind, size, header fields, tensors. Control characters that a
/// header may hold are replaced, so the text is safe to print on a terminal.
std::string describe(const Model& model);

/// The same for programs: a JSON object of "kind", "header" and "tensors" (name, type, shape,
/// bytes).
std::string describe_json(const Model& model);

}  // namespace sdm::io
