#include "sdm/pose/estimator.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/formatted.h"
#include "base/json.h"
#include "pose/batch.h"
#include "pose/check.h"
#include "pose/state.h"
#include "sdm/descent/solve.h"
#include "sdm/pose/projection.h"

namespace sdm::pose {
namespace {

/// Fills in the unseen points. An affine camera keeps affine combinations, so the one that makes an
/// object point of the seen ones makes its image too.
void fill_by_combination(const Points3& object, Points2& image) {
  std::vector<Index> seen;
  for (Index i = 0; i < image.cols(); ++i)
    if (is_seen(image, i)) seen.push_back(i);
  const Points3 known = object(Eigen::all, seen);
  const Eigen::Vector3d mean = known.rowwise().mean();
  const double size = (known.colwise() - mean).norm();
  Eigen::Matrix4Xd base = Eigen::Matrix4Xd::Ones(4, known.cols());
  base.topRows<3>() = (known.colwise() - mean) / size;
  const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver(base);
  const Points2 known_image = image(Eigen::all, seen);
  for (Index i = 0; i < image.cols(); ++i) {
    if (is_seen(image, i)) continue;
    Eigen::Vector4d point = Eigen::Vector4d::Ones();
    point.head<3>() = (object.col(i) - mean) / size;
    image.col(i) = known_image * solver.solve(point);
  }
}

}  // namespace

void PoseRange::validate() const {
  if (!centre.translation.allFinite() || !centre.rotation.coeffs().allFinite() ||
      std::abs(centre.rotation.norm() - 1) > 1e-6)
    throw Error(
        "the centre of the pose range is not a pose: expected a unit quaternion and finite "
        "numbers");
  for (const double degrees : rotation_degrees)
    if (!(degrees >= 0 && degrees <= 180))
      throw Error(formatted("the pose range turns by {} degrees, expected 0 to 180", degrees));
  for (const double distance : translation)
    if (!(distance >= 0 && std::isfinite(distance)))
      throw Error(formatted("the pose range moves by {}, expected 0 or more", distance));
}

Estimator::Estimator(Points3 object, Camera camera, PoseRange range, std::vector<Cell> cells,
                     std::string provenance)
    : object_(std::move(object)),
      camera_(camera),
      range_(std::move(range)),
      cells_(std::move(cells)),
      provenance_(std::move(provenance)) {
  check_object(object_);
  camera_.validate();
  range_.validate();
  if (cells_.empty()) throw Error("the pose estimator has no cell, expected at least one");
  const CentredObject centred(object_, range_.centre);
  const Index n = object_.cols();

  auto packed = std::make_shared<PackedEstimator>();
  packed->camera = camera_;
  packed->depth = static_cast<float>(centred.depth);
  packed->stages = stages();
  Eigen::Map<Eigen::Vector3f>(packed->mean) = centred.mean.cast<float>();
  packed->points.resize(static_cast<std::size_t>(3 * n));
  Eigen::Map<Eigen::Matrix3Xf>(packed->points.data(), 3, n) = centred.points.cast<float>();
  for (Cell& cell : cells_) {
    if (cell.cascade.stages() != stages() || stages() == 0)
      throw Error(formatted("a cell of the pose estimator has {} stages, expected {} as the first",
                            cell.cascade.stages(), std::max(stages(), 1)));
    PackedEstimator::Cell& out = packed->cells.emplace_back();
    const Pose start{cell.start, range_.centre.translation};
    Eigen::Map<Eigen::Matrix<float, state_size, 1>>(out.start) =
        centred.to_state(start).cast<float>();
    const Points2 projection = project(object_, start);
    if (!projection.allFinite())
      throw Error("the start of a cell of the pose estimator puts a point behind the camera");
    out.projection.resize(static_cast<std::size_t>(2 * n));
    Eigen::Map<Eigen::Matrix2Xf>(out.projection.data(), 2, n) = projection.cast<float>();
    for (DescentMap<double>& map : cell.cascade.maps) {
      if (map.feature_size() != 2 * n || map.delta_size() != delta_size)
        throw Error(formatted("a map of the pose estimator is {} x {}, expected {} x {}",
                              map.delta_size(), map.feature_size(), delta_size, 2 * n));
      if (map.rank() > 0) map = DescentMap<double>(map.matrix(), map.bias());  // it is small
      const Matrix<float> r = map.matrix().cast<float>();
      const Vector<float> b = map.bias().cast<float>();
      out.maps.insert(out.maps.end(), b.data(), b.data() + b.size());
      out.maps.insert(out.maps.end(), r.data(), r.data() + r.size());
    }
  }
  packed_ = std::move(packed);
}

Pose Estimator::descend(const Points2& image, int stages) const {
  const CentredObject centred(object_, range_.centre);
  StageBuffers<double> buffers(cells_.front().cascade);
  const auto advance = [&](const Cell& cell, int stage, Vector<double>& x) {
    stage_update<double>(
        cell.cascade.maps[static_cast<std::size_t>(stage)], stage, x, buffers,
        [&](int, const auto& at, auto&& out) { state_features(centred, image, at, out); },
        [](int, const auto& at, const auto& delta, auto&& out) { state_step(at, delta, out); });
  };
  // In pixels, and infinite with a point behind the camera: as the batch chooses.
  const auto squared_error = [&](const Vector<double>& x) {
    const Points2 seen = project(object_, centred.to_pose(x));
    if (!seen.allFinite()) return std::numeric_limits<double>::infinity();
    return camera_.fx * camera_.fx * (seen - image).row(0).squaredNorm() +
           camera_.fy * camera_.fy * (seen - image).row(1).squaredNorm();
  };
  Vector<double> best;
  const Cell* best_cell = nullptr;
  double best_error = std::numeric_limits<double>::infinity();
  for (const Cell& cell : cells_) {
    Vector<double> x = centred.to_state({cell.start, range_.centre.translation});
    advance(cell, 0, x);
    const double error = cells_.size() > 1 ? squared_error(x) : 0;
    if (best_cell && !(error < best_error)) continue;
    best_error = error;
    best_cell = &cell;
    best = std::move(x);
  }
  for (int stage = 1; stage < stages; ++stage) advance(*best_cell, stage, best);
  return centred.to_pose(best);
}

Estimate Estimator::estimate(const Points2& pixels) const {
  return estimate(pixels, stages(), nullptr);
}

Estimate Estimator::estimate(const Points2& pixels, const RefineOptions& options) const {
  return estimate(pixels, stages(), &options);
}

Estimate Estimator::estimate(const Points2& pixels, int stages,
                             const RefineOptions* options) const {
  check_image(object_, pixels);
  const Points2 image = normalise(camera_, pixels);
  Pose pose;
  if (image.allFinite()) {
    pose = descend(image, stages);
  } else {
    Points2 filled = image;
    fill_by_combination(object_, filled);
    pose = descend(filled, stages);
    for (int round = 0; round < 2; ++round) {
      const Points2 projected = project(object_, pose);
      if (!projected.allFinite()) break;
      for (Index i = 0; i < image.cols(); ++i)
        if (!is_seen(image, i)) filled.col(i) = projected.col(i);
      pose = descend(filled, stages);
    }
  }
  if (options) return refine(object_, camera_, pixels, pose, *options);
  return evaluate(object_, camera_, pixels, pose);
}

void Estimator::estimate_batch(ConstMatrixRef<float> pixels, const BatchOptions& options,
                               Eigen::Ref<Matrix<float>> poses, VectorRef<float> errors) const {
  if (pixels.rows() != 2 * object_.cols())
    throw Error(formatted("the batch has {} rows, expected {}: u and v of {} points", pixels.rows(),
                          2 * object_.cols(), object_.cols()));
  if (poses.rows() != 7 || poses.cols() != pixels.cols() || errors.size() != pixels.cols())
    throw Error(formatted("room for {} x {} poses and {} errors, expected 7 x {} and {}",
                          poses.rows(), poses.cols(), errors.size(), pixels.cols(), pixels.cols()));
  if (pixels.cols() > std::numeric_limits<std::int32_t>::max())
    throw Error(formatted("a batch of {} poses, expected at most 2^31 - 1", pixels.cols()));
  if (options.stages < 0 || options.refine_steps < 0)
    throw Error(formatted("{} stages and {} refine steps, expected 0 or more", options.stages,
                          options.refine_steps));
  run_batch(*packed_, options,
            {pixels.data(), pixels.outerStride(), poses.data(), poses.outerStride(), errors.data(),
             pixels.cols()});
  for (Index i = 0; i < pixels.cols(); ++i) {
    if (!std::isnan(errors[i])) continue;
    const Points2 image = pixels.col(i).cast<double>().reshaped(2, object_.cols());
    Index seen = 0;
    for (Index p = 0; p < image.cols(); ++p) seen += is_seen(image, p);
    if (seen < least_points || image.array().isInf().any()) continue;
    const int count = options.stages > 0 ? std::min(options.stages, stages()) : stages();
    const RefineOptions refine_options{options.refine_steps, 0};
    const Estimate found =
        estimate(image, count, options.refine_steps > 0 ? &refine_options : nullptr);
    const Rotation& q = found.pose.rotation;
    poses.col(i) << Eigen::Vector4d(q.w(), q.x(), q.y(), q.z()).cast<float>(),
        found.pose.translation.cast<float>();
    errors[i] = static_cast<float>(found.reprojection_error);
  }
}

Estimator Estimator::with_camera(const Camera& camera) const {
  return {object_, camera, range_, cells_, provenance_};
}

io::Model Estimator::to_model() const {
  io::Model model;
  model.kind = "pose";
  JsonWriter<nlohmann::json> header;
  header.put("points", object_.cols()).put("stages", stages()).put("cells", cells_.size());
  header.object("camera", [&](auto& json) {
    json.put("fx", camera_.fx).put("fy", camera_.fy).put("cx", camera_.cx).put("cy", camera_.cy);
  });
  header.put("provenance", provenance_);
  model.header = header.text();
  model.put("object", io::to_tensor(object_));
  Vector<double> box(13);
  const Rotation& q = range_.centre.rotation;
  box << q.w(), q.x(), q.y(), q.z(), range_.centre.translation, range_.rotation_degrees,
      range_.translation;
  model.put("range", io::to_tensor(box));
  const auto cells = static_cast<Index>(cells_.size());
  const Index features = 2 * object_.cols();
  Matrix<double> starts(4, cells), maps(delta_size, cells * stages() * (features + 1));
  Index column = 0;
  for (Index c = 0; c < cells; ++c) {
    const Estimator::Cell& cell = cells_[static_cast<std::size_t>(c)];
    starts.col(c) << cell.start.w(), cell.start.x(), cell.start.y(), cell.start.z();
    for (const DescentMap<double>& map : cell.cascade.maps) {
      maps.middleCols(column, features) = map.matrix();
      maps.col(column + features) = map.bias();
      column += features + 1;
    }
  }
  model.put("starts", io::to_tensor(starts));
  model.put("maps", io::to_tensor(maps));
  return model;
}

Estimator Estimator::from_model(const io::Model& model) {
  model.require_kind("pose");
  Camera camera;
  std::string provenance;
  try {
    auto header = nlohmann::json::parse(model.header);
    const Dismantling<nlohmann::json> after(header);
    const auto& stored = header.at("camera");
    provenance = header.at("provenance");
    camera = {number_at<double>(stored, "fx"), number_at<double>(stored, "fy"),
              number_at<double>(stored, "cx"), number_at<double>(stored, "cy")};
  } catch (const nlohmann::json::exception& error) {
    throw Error(formatted("the pose model's header has no camera: {}", error.what()));
  }
  const Points3 object = model.matrix<double>("object", 3);
  const Vector<double> box = model.vector<double>("range", 13);
  PoseRange range;
  range.centre = {Rotation(box[0], box[1], box[2], box[3]), box.segment<3>(4)};
  range.rotation_degrees = box.segment<3>(7);
  range.translation = box.segment<3>(10);
  const Matrix<double> starts = model.matrix<double>("starts", 4);
  const Matrix<double> maps = model.matrix<double>("maps", delta_size);
  const Index features = 2 * object.cols(), cells = starts.cols();
  const Index stages = cells == 0 ? 0 : maps.cols() / (cells * (features + 1));
  if (stages * cells * (features + 1) != maps.cols())
    throw Error(formatted(
        "the pose model's maps have {} columns, expected a multiple of {} cells x ({} features and "
        "a bias)",
        maps.cols(), cells, features));
  std::vector<Estimator::Cell> list;
  Index column = 0;
  for (Index c = 0; c < cells; ++c) {
    Estimator::Cell cell;
    cell.start = Rotation(starts(0, c), starts(1, c), starts(2, c), starts(3, c));
    cell.cascade.state_size = state_size;
    for (Index s = 0; s < stages; ++s, column += features + 1)
      cell.cascade.maps.emplace_back(maps.middleCols(column, features),
                                     maps.col(column + features));
    list.push_back(std::move(cell));
  }
  return {object, camera, range, std::move(list), std::move(provenance)};
}

}  // namespace sdm::pose
