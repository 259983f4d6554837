#include "sdm/descent/partition.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/json.h"
#include "descent/map_tensors.h"

namespace sdm {

Index Grid::size() const {
  Index total = 1;
  for (const int count : cells) total *= count;
  return total;
}

void Grid::validate() const {
  if (lower.size() != upper.size() || lower.size() != static_cast<Index>(cells.size()) ||
      cells.empty())
    throw Error(formatted("the grid has {} lower bounds, {} upper bounds and {} cell counts",
                          lower.size(), upper.size(), cells.size()));
  for (Index a = 0; a < lower.size(); ++a) {
    if (cells[static_cast<std::size_t>(a)] < 1)
      throw Error(formatted("axis {} of the grid has {} cells, expected at least one", a,
                            cells[static_cast<std::size_t>(a)]));
    if (!(lower[a] < upper[a]))
      throw Error(formatted("axis {} of the grid runs from {} to {}, expected a range", a, lower[a],
                            upper[a]));
  }
}

Index Grid::cell_of(const Vector<double>& x) const {
  Index cell = 0;
  for (Index a = 0; a < lower.size(); ++a) {
    const int count = cells[static_cast<std::size_t>(a)];
    const double place = (x[a] - lower[a]) / (upper[a] - lower[a]) * count;
    cell = cell * count + static_cast<Index>(std::clamp(std::floor(place), 0.0, count - 1.0));
  }
  return cell;
}

Vector<double> Grid::centre(Index cell) const {
  Vector<double> x(lower.size());
  for (Index a = lower.size() - 1; a >= 0; --a) {
    const int count = cells[static_cast<std::size_t>(a)];
    const double place = static_cast<double>(cell % count) + 0.5;
    x[a] = lower[a] + (upper[a] - lower[a]) * place / count;
    cell /= count;
  }
  return x;
}

namespace {

constexpr Index kMostAxes = 20;  // a million cells

template <class Scalar>
Matrix<Scalar> leading_axes(ConstMatrixRef<Scalar> columns, int count, const char* what) {
  if (count == 0) return Matrix<Scalar>(columns.rows(), 0);
  if (count < 0 || count > std::min(columns.rows(), columns.cols()))
    throw Error(formatted("{} axes of {} {} deltas of {} values", count, columns.cols(), what,
                          columns.rows()));
  // Singular vectors by the smaller of the two Gram matrices; eigenvalues come in ascending order.
  const bool wide = columns.rows() <= columns.cols();
  const Matrix<Scalar> gram = wide ? Matrix<Scalar>(columns * columns.transpose())
                                   : Matrix<Scalar>(columns.transpose() * columns);
  const Eigen::SelfAdjointEigenSolver<Matrix<Scalar>> solver(gram);
  const Matrix<Scalar> leading = solver.eigenvectors().rightCols(count).rowwise().reverse();
  return wide ? leading : Matrix<Scalar>((columns * leading).colwise().normalized());
}

}  // namespace

template <class Scalar>
SignRule<Scalar>::SignRule(ConstMatrixRef<Scalar> state_deltas,
                           ConstMatrixRef<Scalar> feature_deltas, int state_axes,
                           int feature_axes) {
  if (Index(state_axes) + feature_axes > kMostAxes)
    throw Error(formatted("{} state axes and {} feature axes, expected at most {} together",
                          state_axes, feature_axes, kMostAxes));
  state_ = leading_axes<Scalar>(state_deltas, state_axes, "state");
  feature_ = leading_axes<Scalar>(feature_deltas, feature_axes, "feature");
}

template <class Scalar>
int SignRule<Scalar>::feature_bits(ConstVectorRef<Scalar> feature_delta) const {
  int bits = 0;
  for (Index a = 0; a < feature_.cols(); ++a)
    bits = 2 * bits + (feature_.col(a).dot(feature_delta) >= 0 ? 1 : 0);
  return bits;
}

template <class Scalar>
int SignRule<Scalar>::cell_of(ConstVectorRef<Scalar> state_delta,
                              ConstVectorRef<Scalar> feature_delta) const {
  int bits = 0;
  for (Index a = 0; a < state_.cols(); ++a)
    bits = 2 * bits + (state_.col(a).dot(state_delta) >= 0 ? 1 : 0);
  return (bits << feature_axes()) + feature_bits(feature_delta);
}

template <class Scalar>
std::vector<int> SignRule<Scalar>::candidates(ConstVectorRef<Scalar> feature_delta) const {
  std::vector<int> result;
  const int bits = feature_bits(feature_delta);
  for (int state = 0; state < 1 << state_axes(); ++state)
    result.push_back((state << feature_axes()) + bits);
  return result;
}

template <class Scalar>
io::Model Partition<Scalar>::to_model() const {
  if (cells.empty()) throw Error("the partition has no cells, expected at least one");
  io::Model model;
  model.kind = "partition";
  const Cascade<Scalar>& first = cells.front();
  JsonWriter<nlohmann::json> header;
  header.put("cells", cells.size()).put("stages", first.stages());
  header.put("state_size", first.state_size).put("template_known", first.template_known);
  model.header = header.text();
  for (std::size_t c = 0; c < cells.size(); ++c)
    put_maps(model, formatted("cell{}.", c), cells[c].maps);
  Matrix<Scalar> places(first.state_size, static_cast<Index>(starts.size()));
  for (std::size_t c = 0; c < starts.size(); ++c) places.col(static_cast<Index>(c)) = starts[c];
  model.put("starts", io::to_tensor(places));
  model.put("state_axes", io::to_tensor(rule.state_));
  model.put("feature_axes", io::to_tensor(rule.feature_));
  return model;
}

template <class Scalar>
Partition<Scalar> Partition<Scalar>::from_model(const io::Model& model) {
  model.require_kind("partition");
  Partition partition;
  Cascade<Scalar> cascade;
  int count = 0, stages = 0;
  try {
    auto header = nlohmann::json::parse(model.header);
    const Dismantling<nlohmann::json> after(header);
    count = number_at<int>(header, "cells");
    stages = number_at<int>(header, "stages");
    cascade.state_size = number_at<Index>(header, "state_size");
    cascade.template_known = header.at("template_known").get<bool>();
  } catch (const nlohmann::json::exception& e) {
    throw Error(formatted("the header of the partition is not as expected: {}", e.what()));
  }
  if (count < 1 || static_cast<std::size_t>(count) > model.tensors.size() || stages < 1 ||
      cascade.state_size < 1)
    throw Error(
        formatted("the partition says {} cells of {} stages for states of {} values, "
                  "expected at least one of each and no more cells than tensors",
                  count, stages, cascade.state_size));
  for (int c = 0; c < count; ++c) {
    cascade.maps = get_maps<Scalar>(model, formatted("cell{}.", c), stages);
    partition.cells.push_back(cascade);
  }
  const Matrix<Scalar> places = model.matrix<Scalar>("starts", cascade.state_size);
  if (places.cols() != 0 && places.cols() != count)
    throw Error(formatted("the partition has {} starts for {} cells", places.cols(), count));
  for (Index c = 0; c < places.cols(); ++c) partition.starts.emplace_back(places.col(c));
  partition.rule.state_ = model.matrix<Scalar>("state_axes");
  partition.rule.feature_ = model.matrix<Scalar>("feature_axes");
  const Index axes = partition.rule.state_.cols() + partition.rule.feature_.cols();
  if (axes > kMostAxes || (axes > 0 && partition.rule.cells() != count))
    throw Error(
        formatted("the partition has {} axes for {} cells, expected a bit for each", axes, count));
  if (partition.rule.feature_.cols() > 0 &&
      partition.rule.feature_.rows() != partition.cells.front().maps.front().feature_size())
    throw Error(formatted("the partition's axes have {} values, the features {}",
                          partition.rule.feature_.rows(),
                          partition.cells.front().maps.front().feature_size()));
  return partition;
}

template class SignRule<float>;
template class SignRule<double>;
template struct Partition<float>;
template struct Partition<double>;

}  // namespace sdm
