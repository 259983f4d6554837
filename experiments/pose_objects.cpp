#include "experiments/pose_objects.h"

#include <cmath>
#include <numbers>

#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/model.h"
#include "sdm/io/file.h"
#include "sdm/pose/object.h"

namespace sdm::experiments {
namespace {

using pose::Points3;

Points3 centred(const Points3& points) { return points.colwise() - points.rowwise().mean(); }

/// From a mesh with y up that looks along +z to the camera's frame.
Points3 facing(const Points3& mesh, double millimetres) {
  return centred(Eigen::Vector3d(1, -1, -1).asDiagonal() * mesh * millimetres);
}

Points3 spread(const Points3& points, Eigen::Index count) {
  return points(Eigen::all, pose::spread_points(points, std::min(count, points.cols())));
}

Points3 from_list(const std::vector<Eigen::Vector3d>& list) {
  Points3 points(3, static_cast<Eigen::Index>(list.size()));
  for (std::size_t i = 0; i < list.size(); ++i) points.col(static_cast<Eigen::Index>(i)) = list[i];
  return points;
}

/// The points in space that the shipped face model learned, with 90 mm between the outer corners of
/// the eyes.
Points3 learned_face(const ExperimentContext& context) {
  const auto model = face::Model::load(context.shipped_file("face68.sdm"));
  const Points3 shape = model.shape3d.cast<double>();
  if (shape.cols() != 68)
    throw Error("the shipped face model holds no shape in space of 68 points");
  const auto [right, left] = face::ibug(68).unit;
  return centred(shape * (90 / (shape.col(left) - shape.col(right)).norm()));
}

/// Head, trunk, arms and legs as rings of four points along their bones.
Points3 made_figure() {
  struct Bone {
    Eigen::Vector3d from, to;
    double radius;
  };
  const Bone bones[] = {
      {{0, -800, 0}, {0, -600, 0}, 90},        {{0, -520, 0}, {0, -50, 0}, 150},
      {{-180, -500, 0}, {-420, -50, -60}, 50}, {{180, -500, 0}, {420, -50, -60}, 50},
      {{-100, 0, 0}, {-140, 830, 0}, 70},      {{100, 0, 0}, {140, 830, 0}, 70}};
  std::vector<Eigen::Vector3d> points;
  for (const Bone& bone : bones)
    for (const double along : {0.0, 0.5, 1.0})
      for (int side = 0; side < 4; ++side) {
        const double turn = (side + along) * std::numbers::pi / 2;
        points.push_back(bone.from + along * (bone.to - bone.from) +
                         bone.radius * Eigen::Vector3d(std::cos(turn), 0, std::sin(turn)));
      }
  return centred(from_list(points));
}

}  // namespace

std::optional<std::filesystem::path> pose_data(const ExperimentContext& context,
                                               const std::string& name) {
  ExperimentContext place = context;
  if (context.data.extension() == ".obj") place.data.clear();  // it names the object, not a folder
  try {
    const std::filesystem::path path = find_data(place, "pose/" + name);
    if (path.filename() == name) return path;
  } catch (const Error&) {
  }
  return {};
}

PoseObject face_object(const ExperimentContext& context) {
  const auto path = pose_data(context, "face_ict_68_points.txt");
  if (!path)
    return {"face", "68 points in space that the shipped face model learned",
            learned_face(context)};
  // Lines "number x y z".
  const TextLines file = io::read_lines(*path);
  std::vector<Eigen::Vector3d> points;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::vector<std::string> words = split_words(file.lines[i]);
    if (words.empty() || words[0].starts_with('#')) continue;
    if (words.size() != 4) file.fail(i, "expected a number and x, y, z");
    points.emplace_back(to_number(words[1]), to_number(words[2]), to_number(words[3]));
  }
  return {"face", "68 landmarks of the ICT face", facing(from_list(points), 10)};
}

PoseObject body_object(const ExperimentContext& context) {
  const auto path = pose_data(context, "body_makehuman.obj");
  if (!path) return {"body", "made: a figure of 72 points, 1.6 m tall", made_figure()};
  return {"body", "64 points of the MakeHuman base mesh",
          spread(facing(pose::read_object(*path, "body"), 100), 64)};
}

PoseObject file_object(const std::filesystem::path& path) {
  Points3 points = facing(pose::read_object(path), 1);
  points *= 150 / points.colwise().norm().maxCoeff();
  return {"object", path.filename().string(), spread(points, 64)};
}

}  // namespace sdm::experiments
