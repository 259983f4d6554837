#include "sdm/descent/cascade.h"

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/json.h"
#include "descent/map_tensors.h"
#include "sdm/base/error.h"

namespace sdm {

template <class Scalar>
DescentMap<Scalar>::DescentMap(Matrix<Scalar> r, Vector<Scalar> b)
    : right_(std::move(r)), bias_(std::move(b)) {
  if (right_.rows() != bias_.size())
    throw Error(
        formatted("a descent map has {} rows but a bias of {}", right_.rows(), bias_.size()));
}

template <class Scalar>
DescentMap<Scalar>::DescentMap(Matrix<Scalar> left, Matrix<Scalar> right, Vector<Scalar> b)
    : left_(std::move(left)), right_(std::move(right)), bias_(std::move(b)) {
  if (left_.rows() != bias_.size() || left_.cols() != right_.rows() || left_.cols() == 0)
    throw Error(
        formatted("a descent map has factors {}x{} and {}x{} and a bias of {}, expected MxR, RxN "
                  "and M with a rank R of at least 1",
                  left_.rows(), left_.cols(), right_.rows(), right_.cols(), bias_.size()));
}

template <class Scalar>
void DescentMap<Scalar>::apply(ConstVectorRef<Scalar> features, VectorRef<Scalar> scratch,
                               VectorRef<Scalar> delta) const {
  delta = bias_;
  if (rank() == 0) {
    delta.noalias() -= right_ * features;
  } else {
    auto inner = scratch.head(rank());
    inner.noalias() = right_ * features;
    delta.noalias() -= left_ * inner;
  }
}

template <class Scalar>
void DescentMap<Scalar>::learn(ConstVectorRef<Scalar> delta, ConstVectorRef<Scalar> gain,
                               Scalar bias_gain) {
  assert(rank() == 0);
  // Without a product of Eigen's, which may ask for memory.
  for (Index j = 0; j < right_.cols(); ++j) right_.col(j) -= gain[j] * delta;
  bias_ += bias_gain * delta;
}

template <class Scalar>
Matrix<Scalar> DescentMap<Scalar>::matrix() const {
  return rank() == 0 ? right_ : Matrix<Scalar>(left_ * right_);
}

template <class Scalar>
Index Cascade<Scalar>::largest_feature_size() const {
  Index largest = 0;
  for (const auto& map : maps) largest = std::max(largest, map.feature_size());
  return largest;
}

template <class Scalar>
Index Cascade<Scalar>::largest_rank() const {
  Index largest = 0;
  for (const auto& map : maps) largest = std::max(largest, map.rank());
  return largest;
}

template <class Scalar>
io::Model Cascade<Scalar>::to_model() const {
  io::Model model;
  model.kind = "cascade";
  JsonWriter<nlohmann::json> header;
  header.put("stages", stages()).put("state_size", state_size);
  header.put("template_known", template_known);
  model.header = header.text();
  put_maps(model, "", maps);
  return model;
}

template <class Scalar>
Cascade<Scalar> Cascade<Scalar>::from_model(const io::Model& model) {
  model.require_kind("cascade");
  Cascade<Scalar> cascade;
  int stages = 0;
  try {
    auto header = nlohmann::json::parse(model.header);
    const Dismantling<nlohmann::json> after(header);
    stages = number_at<int>(header, "stages");
    cascade.state_size = number_at<Index>(header, "state_size");
    cascade.template_known = header.at("template_known").get<bool>();
  } catch (const nlohmann::json::exception& e) {
    throw Error(formatted("the header of the cascade is not as expected: {}", e.what()));
  }
  if (cascade.state_size < 1)
    throw Error(formatted("the cascade's states have {} values, expected at least one",
                          cascade.state_size));
  cascade.maps = get_maps<Scalar>(model, "", stages);
  return cascade;
}

#define SDM_INSTANTIATE(Scalar)      \
  template class DescentMap<Scalar>; \
  template struct Cascade<Scalar>;
SDM_INSTANTIATE(float)
SDM_INSTANTIATE(double)
#undef SDM_INSTANTIATE

}  // namespace sdm
