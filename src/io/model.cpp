#include "sdm/io/model.h"

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::io {
namespace {

std::string scale_name(std::string_view name) { return formatted("{}.scale", name); }

// Adds the name, which a tensor does not know, to what `f` complains about.
template <class F>
auto about(const Model& model, std::string_view name, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(formatted("tensor '{}' of the {} model: {}", name, model.kind, error.what()));
  }
}

Tensor plain(const Model& model, std::string_view name) {
  const Tensor& values = model.tensor(name);
  const auto scale = model.tensors.find(scale_name(name));
  if (values.type() != ElementType::i8 || scale == model.tensors.end()) return values;
  return dequantize({values, scale->second});
}

}  // namespace

void Model::require_kind(std::string_view expected) const {
  if (kind != expected)
    throw Error(formatted("this is a {} model, expected a {} model", kind, expected));
}

const Tensor& Model::tensor(std::string_view name) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw Error(formatted("the {} model has no tensor '{}'", kind, name));
  return found->second;
}

template <class Scalar>
Matrix<Scalar> Model::matrix(std::string_view name, Eigen::Index rows, Eigen::Index cols) const {
  return about(*this, name, [&] { return to_matrix<Scalar>(plain(*this, name), rows, cols); });
}

template <class Scalar>
Vector<Scalar> Model::vector(std::string_view name, Eigen::Index size) const {
  return about(*this, name, [&] { return to_vector<Scalar>(plain(*this, name), size); });
}

template Matrix<float> Model::matrix(std::string_view, Eigen::Index, Eigen::Index) const;
template Matrix<double> Model::matrix(std::string_view, Eigen::Index, Eigen::Index) const;
template Vector<float> Model::vector(std::string_view, Eigen::Index) const;
template Vector<double> Model::vector(std::string_view, Eigen::Index) const;

void Model::put(std::string_view name, Tensor tensor) {
  if (!tensors.emplace(name, std::move(tensor)).second)
    throw Error(formatted("the {} model already has a tensor '{}'", kind, name));
}

void Model::put_f16(std::string_view name, const Tensor& values) {
  put(name, about(*this, name, [&] { return convert(values, ElementType::f16); }));
}

void Model::put_i8(std::string_view name, const Tensor& matrix, ScalePer per) {
  Quantized quantized = about(*this, name, [&] { return quantize(matrix, per); });
  put(name, std::move(quantized.values));
  put(scale_name(name), std::move(quantized.scale));
}

}  // namespace sdm::io
