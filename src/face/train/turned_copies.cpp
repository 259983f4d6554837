#include "face/train/turned_copies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/train/mean_shape.h"
#include "sdm/face/train/turned_face.h"
#include "sdm/image/augment.h"
#include "sdm/pose/train/rigid_shape.h"

namespace sdm::face {
namespace {

constexpr double kYaw = 70, kPitch = 35;
constexpr double kBlur = 0.16, kNoise = 12;  // at most: units of the face, grey levels
constexpr double kFrontal = 5;  // both sides of a face that looks no farther aside are seen

pose::RigidShape shape_of_faces(const std::vector<Shape>& truths, const std::vector<int>& mirror) {
  std::vector<pose::Points2> views;
  for (const Shape& truth : truths) views.push_back(truth.cast<double>());
  pose::RigidShapeOptions options;
  options.mirror = mirror;
  try {
    return pose::learn_rigid_shape(views, options);
  } catch (const Error& error) {
    throw Error(formatted("turned copies need the points in space: {}", error.what()));
  }
}

// From `angle` by up to `most`, but not beyond it.
double turn_from(double angle, double side, double most, Random& random) {
  const double turn = side * most * std::pow(random.uniform(), 1.5);
  return std::clamp(angle + turn, std::min(angle, -most), std::max(angle, most)) - angle;
}

// As a moving or dark camera sees it: half of the copies blurred, half of them noisy.
void degrade(double unit, std::uint64_t seed, std::uint64_t number, Random& random,
             image::ImageView<std::uint8_t> picture) {
  const double blur = random.below(2) == 0 ? random.uniform(0, kBlur) * unit : 0;
  const double noise = random.below(2) == 0 ? random.uniform(0, kNoise) : 0;
  const auto angle = static_cast<float>(random.uniform(0, std::numbers::pi));
  image::Image<float> clean(picture.width, picture.height);
  for (int y = 0; y < picture.height; ++y)
    std::copy_n(picture.row(y), picture.width, clean.view().row(y));
  image::Image<float> seen = clean;
  image::motion_blur(clean, static_cast<float>(blur), angle, seen);
  image::add_noise(seen, static_cast<float>(noise), seed, number);
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      picture(x, y) = static_cast<std::uint8_t>(std::clamp(seen(x, y), 0.0F, 255.0F) + 0.5F);
}

}  // namespace

std::vector<TrainingFace> with_turned_copies(const std::vector<TrainingFace>& faces,
                                             const std::vector<Shape>& truths,
                                             const detail::Ranks::Share& share,
                                             const TrainerOptions& options) {
  if (options.turned == 0) return {};
  const pose::RigidShape shape = shape_of_faces(truths, options.mirror);
  const FaceTurner turner(shape.points.cast<float>(), shape.weights.cast<float>(), options.outline);
  const Shape shape_mean = mean_shape(truths, options.mirror, options.unit);
  std::vector<TrainingFace> result = faces;
  const std::size_t copies = faces.size() * static_cast<std::size_t>(options.turned);
  result.resize(faces.size() + copies);
  ThreadPool pool(options.threads);
  pool.run(static_cast<Index>(copies), [&](Index copy, int) {
    const auto i = static_cast<std::size_t>(copy) % faces.size();
    const TrainingFace& face = faces[i];
    // Across all ranks.
    const Index count = static_cast<Index>(faces.size());
    const auto number =
        static_cast<std::uint64_t>(copy / count * share.all + share.first + copy % count);
    Random random(options.seed, "turned copies", number);
    TrainingFace& out = result[faces.size() + static_cast<std::size_t>(copy)];
    const pose::HeadPose head = turner.pose(face.truth);
    const double side = random.sign();
    const double yaw =
        turn_from(head.yaw, std::abs(head.yaw) < kFrontal ? side : std::copysign(1.0, head.yaw),
                  kYaw, random);
    const double pitch = turn_from(head.pitch, random.sign(), kPitch, random);
    TurnedFace turned = turner.turn(face.picture, face.truth, yaw, pitch);
    out.picture = std::move(turned.picture);
    out.truth = std::move(turned.points);
    out.hidden = std::move(turned.hidden);
    // Those of the outline have moved to where it is seen.
    for (const int point : options.outline) out.hidden[static_cast<std::size_t>(point)] = false;
    const double unit = double(fit_similarity(shape_mean, out.truth).scale());
    degrade(unit, options.seed, number, random, out.picture);
    for (const Box& box : face.boxes) out.boxes.push_back(moved(box, face.truth, out.truth));
    out.weight = options.turned_weight * face.weight;
    out.group = face.group < 0 ? share.first + static_cast<Index>(i) : face.group;
  });
  return result;
}

std::vector<TrainingFace> with_turned_copies(const std::vector<TrainingFace>& faces,
                                             const TrainerOptions& options) {
  std::vector<Shape> truths;
  for (const TrainingFace& face : faces) truths.push_back(face.truth);
  return with_turned_copies(faces, truths, {0, static_cast<Index>(faces.size())}, options);
}

}  // namespace sdm::face
