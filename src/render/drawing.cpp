#include "render/drawing.h"

#include <Eigen/Geometry>
#include <cmath>
#include <limits>

#include "render/hair.h"
#include "render/photograph.h"
#include "render/props.h"
#include "render/scene.h"

namespace sdm::render {
namespace {

constexpr int kSamples = 2;          // of a pixel, each way
constexpr float kEyeCorners = 8.9F;  // cm between the outer ones of the neutral head
const Eigen::Vector3f kPivot{0, 0, 4};

// A head nods on its neck, the neck turns, and the camera is tilted.
Eigen::Matrix3f rotation_of(float turn, float nod, float tilt) {
  using Eigen::AngleAxisf, Eigen::Vector3f;
  return (AngleAxisf(-tilt * kDegree, Vector3f::UnitZ()) *
          AngleAxisf(turn * kDegree, Vector3f::UnitY()) *
          AngleAxisf(-nod * kDegree, Vector3f::UnitX()))
      .toRotationMatrix();
}

Eigen::Vector3f random_direction(Random& random) {
  Eigen::Vector3f direction(float(random.normal()), float(0.6 * random.normal() + 0.65),
                            float(0.5 * random.normal() + 1));
  direction.z() = std::max(direction.z(), -0.1F);
  return direction.normalized();
}

Light random_light(const RenderOptions& options, Random& random) {
  Light light;
  const float ambient = between(random, 0.25, 0.8);
  std::array<float, 9> uneven{};
  for (std::size_t i = 1; i < 4; ++i) uneven[i] = float(0.18 * random.normal());
  for (std::size_t i = 4; i < 9; ++i) uneven[i] = float(0.08 * random.normal());
  uneven[1] += 0.15F;
  light.harmonics.fill(0);
  light.harmonics[0] = ambient;
  const std::size_t glows = random.below(4);
  std::array<Eigen::Vector3f, 3> towards;
  std::array<float, 3> amounts{};
  for (std::size_t i = 0; i < 3; ++i) {
    towards[i] = random_direction(random);
    amounts[i] = between(random, 0.2, 1.2) * ambient;
  }
  light.direction = random_direction(random);
  const double kind = random.uniform();
  const float strong = between(random, 1, 3.8), weak = between(random, 0.25, 1.4);
  light.strength = kind < 0.2 ? 0 : kind < 0.6 ? weak : strong;
  const float contrast =
      light.strength > 0.7F && random.uniform() < 0.12 ? between(random, 0.15, 0.5) : 1;
  if (options.glow) {
    for (std::size_t i = 1; i < 9; ++i) light.harmonics[i] += ambient * uneven[i];
    for (std::size_t i = 0; i < glows; ++i) light.add_glow(towards[i], amounts[i]);
  }
  if (!options.lamp) light.strength = 0;
  if (options.lamp)
    for (float& h : light.harmonics) h *= contrast;
  return light;
}

// One face as it comes about, step by step. Each thing has a stream of random numbers, so that
// leaving another out does not change it.
class Drawing {
 public:
  Drawing(const Studio& studio, std::uint64_t number)
      : studio_(studio),
        options_(studio.options),
        person_random_(options_.seed, "render person", number),
        shape_random_(options_.seed, "render shape", number),
        paint_random_(options_.seed, "render paint", number),
        pose_random_(options_.seed, "render pose", number),
        light_random_(options_.seed, "render light", number),
        hair_random_(options_.seed, "render hair", number),
        prop_random_(options_.seed, "render props", number),
        camera_random_(options_.seed, "render camera", number),
        back_random_(options_.seed, "render background", number) {}

  RenderedFace draw() {
    paint();
    build_head();
    dress_head();
    aim_camera();
    light_ = random_light(options_, light_random_);
    raster_.reset(kSamples * side_, kSamples * side_);
    bright_ = Field(kSamples * side_, kSamples * side_);
    light_scene(scene_, light_, camera_, raster_, bright_);
    expose();
    for (const auto& outline : glasses_.lenses) darken_lens(outline);
    compose();
    measure();
    return std::move(face_);
  }

 private:
  void paint();
  void build_head();
  void dress_head();
  void aim_camera();
  void expose();
  void darken_lens(const std::vector<Eigen::Vector3f>& outline);
  void compose();
  bool held_before(float x, float y, Eigen::Vector3f& normal) const;
  void measure();

  Eigen::Vector3f to_camera(const Eigen::Vector3f& p) const { return rotation_ * (p - kPivot); }
  // Sample s is the centre of its part of pixel s / kSamples.
  Eigen::Vector2f to_pixels(const Eigen::Vector3f& projected) const {
    return (projected.head<2>().array() - 0.5F) / kSamples;
  }

  const Studio& studio_;
  const RenderOptions& options_;
  Random person_random_, shape_random_, paint_random_, pose_random_, light_random_, hair_random_,
      prop_random_, camera_random_, back_random_;
  Person person_;
  FacePaint paint_;
  Field eye_, lashes_, cloth_;
  Shell hair_, hat_;
  Glasses glasses_;
  Scene scene_;
  Eigen::Matrix3f rotation_ = Eigen::Matrix3f::Identity();
  Camera camera_;
  std::array<Eigen::Vector3f, 68> landmarks_;
  float unit_ = 0;    // px between the eyes' outer corners
  float extent_ = 0;  // of the points, in samples
  Eigen::Vector2f middle_;
  int side_ = 0;  // of the picture, px
  Light light_;
  Raster raster_{1, 1};
  Field bright_;  // of every sample, linear
  float skin_light_ = 0, aim_ = 0;
  Field covered_;  // by what is held before the face
  std::vector<Bar> bars_;
  RenderedFace face_;
};

void Drawing::paint() {
  person_ = Person::random(person_random_);
  if (!options_.beards) person_.beard = person_.thickness = 0;
  const auto& skins = studio_.skins;
  if (!skins.empty()) face_.skin = int(person_random_.below(skins.size()));
  paint_ =
      paint_face(studio_.layout, studio_.noise,
                 skins.empty() ? nullptr : &skins[std::size_t(face_.skin)], person_, paint_random_);
  eye_ = paint_eye(studio_.noise, paint_random_);
  lashes_ = paint_lashes(paint_random_);
  cloth_ = paint_cloth(studio_.noise, paint_random_);
  face_.reflectance = person_.skin;
}

void Drawing::build_head() {
  const HeadModel& head = studio_.head;
  const auto& surface = studio_.surface;
  scene_.points = studio_.shape(person_, paint_, shape_random_);
  scene_.texture = studio_.texture;
  scene_.triangles = head.triangles;
  for (const Part part : head.parts) scene_.material.push_back(surface_of(part));
  const float depth = between(paint_random_, 0.3, 0.9);
  const float lit_teeth = between(paint_random_, 0.25, 0.75);
  scene_.open.resize(surface.size());
  for (std::size_t i = 0; i < surface.size(); ++i) {
    const float closed = studio_.open_closed[i];
    float open = 0.6F * closed + 0.4F * std::max(closed, studio_.open_wide[i]);
    // Lips let light in that the neutral, closed mouth does not.
    const float z = head.neutral(2, Index(i));
    if (surface[i] == kTeeth) open = std::max(open, lit_teeth * ramp(6, 10, z));
    if (surface[i] == kGums) open = std::max(open, 0.35F * ramp(5, 10, z));
    scene_.open[i] = std::pow(std::min(1.0F, open), depth);
  }
  scene_.materials.resize(kSurfaces);
  auto& materials = scene_.materials;
  const float skin = person_.skin, shine = between(paint_random_, 0, 0.4) * std::sqrt(skin / 0.3F);
  const float shininess = between(paint_random_, 8, 30), wrap = between(paint_random_, 0, 0.3);
  materials[kSkin] = {&paint_.skin, 1, shine, shininess, wrap, false, true};
  const float back = person_.bald ? skin : 0.8F * person_.hair;
  materials[kBack] = {nullptr, back, 0.03F, 10, 0.1F, false, true};
  materials[kMouth] = {nullptr, 0.2F * skin, 0.05F, 20, 0, false, false};
  materials[kSocket] = {nullptr, 0.6F * skin, 0.02F, 10, 0, false, false};
  materials[kGums] = {nullptr, between(paint_random_, 0.1, 0.3), 0.1F, 20, 0, false, false};
  // Cameras expose for the skin, and what is white beside dark skin does not glow all the same.
  const float beside_skin = std::pow(skin / 0.3F, 0.3F);
  materials[kTeeth] = {nullptr, beside_skin * between(paint_random_, 0.3, 0.7), 0.15F, 40, 0, false,
                       false};
  materials[kEye] = {&eye_,
                     beside_skin * between(paint_random_, 0.7, 1.3),
                     between(paint_random_, 0.4, 2.2),
                     200,
                     0,
                     false,
                     false};
  materials[kLashes] = {&lashes_, 1, 0, 1, 0, true, false};
  materials[kCloth] = {&cloth_, 1, 0, 1, 0.1F, false, false};
}

void Drawing::dress_head() {
  const Points bare = scene_.points(Eigen::all, studio_.outside);
  if (options_.hair && !person_.bald) {
    hair_ = grow_hair(bare, person_, studio_.noise, hair_random_);
    const float shine = between(hair_random_, 0, 0.15) * (0.2F + person_.hair);
    scene_.materials[kHair] = {&hair_.texture, 1, shine, 12, 0.2F, true, false};
    scene_.add(hair_.mesh, kHair);
  }
  if (options_.hats && person_.hat) {
    hat_ = put_on_hat(bare, studio_.noise, hair_random_);
    scene_.materials[kHat] = {&hat_.texture, 1, 0, 1, 0.1F, true, false};
    scene_.add(hat_.mesh, kHat);
  }
  if (options_.clothes) scene_.add(dress(prop_random_), kCloth);
  if (!options_.glasses || prop_random_.uniform() >= 0.2) return;
  Eigen::Vector3f eyes = Eigen::Vector3f::Zero();
  for (std::size_t k = 36; k < 48; ++k) {
    const Eigen::Vector3f lid = scene_.points.col(studio_.head.landmarks[k]);
    eyes.y() += lid.y() / 12;
    eyes.z() = std::max(eyes.z(), lid.z());
  }
  glasses_ = put_on_glasses(eyes, prop_random_);
  const float colour = prop_random_.uniform() < 0.8 ? between(prop_random_, 0.01, 0.1)
                                                    : between(prop_random_, 0.1, 0.8);
  scene_.materials[kFrame] = {nullptr, colour, between(prop_random_, 0, 0.3), 60, 0, false, false};
  scene_.add(glasses_.frame, kFrame);
}

void Drawing::aim_camera() {
  const bool wide = pose_random_.uniform() < 0.12;
  const auto normal_yaw = float(16 * pose_random_.normal());
  const float wide_yaw = between(pose_random_, -1, 1) * options_.yaw;
  const float turn = std::clamp(wide ? wide_yaw : normal_yaw, -options_.yaw, options_.yaw);
  const float nod = std::clamp(float(10 * pose_random_.normal() - 3), -35.0F, 35.0F);
  const float tilt = std::clamp(float(9 * pose_random_.normal()), -40.0F, 40.0F);
  rotation_ = rotation_of(turn, nod, tilt);
  // The same rotation by the angles of sdm/pose/head_pose.h, which has them in another order.
  face_.yaw = std::asin(std::clamp(rotation_(0, 2), -1.0F, 1.0F)) / kDegree;
  face_.pitch = std::atan2(rotation_(1, 2), rotation_(2, 2)) / kDegree;
  face_.roll = std::atan2(rotation_(0, 1), rotation_(0, 0)) / kDegree;
  for (Index i = 0; i < scene_.points.cols(); ++i)
    scene_.points.col(i) = to_camera(scene_.points.col(i));
  camera_.distance = std::exp(between(pose_random_, std::log(45), std::log(220)));
  unit_ = options_.size * between(pose_random_, 0.38, 0.52);
  camera_.focal = kSamples * unit_ / kEyeCorners * (camera_.distance - 5);
  const Eigen::Vector3f up = rotation_.col(1);
  landmarks_ =
      studio_.landmarks.place(scene_.points, camera_, std::atan2(-up.x(), up.y()), paint_.brows);
  Eigen::Matrix<float, 2, 68> points;
  for (std::size_t k = 0; k < 68; ++k)
    points.col(Index(k)) = camera_.project(landmarks_[k]).head<2>();
  const Eigen::Vector2f low = points.rowwise().minCoeff(), high = points.rowwise().maxCoeff();
  extent_ = (high - low).maxCoeff();
  side_ = int(0.86F * extent_);  // the face is a little more than half of the picture
  const float half = 0.5F * float(kSamples * side_);
  camera_.cx = half - 0.5F * (low + high).x() + float(0.03 * pose_random_.normal()) * extent_;
  camera_.cy =
      half - 0.5F * (low + high).y() + float(0.04 + 0.03 * pose_random_.normal()) * extent_;
  middle_ = points.rowwise().mean() + Eigen::Vector2f(camera_.cx, camera_.cy);
}

// By the brighter part of the skin, as cameras that find faces do.
void Drawing::expose() {
  std::vector<float> lit;
  for (int y = 0; y < bright_.height(); y += 3)
    for (int x = 0; x < bright_.width(); x += 3)
      if (const Fragment& f = raster_.at(x, y);
          f.triangle >= 0 && scene_.material[std::size_t(f.triangle)] == kSkin)
        lit.push_back(bright_(x, y));
  if (lit.empty()) lit.push_back(0.2F);
  const auto two_thirds = lit.begin() + std::ptrdiff_t(2 * lit.size() / 3);
  std::nth_element(lit.begin(), two_thirds, lit.end());
  skin_light_ = *two_thirds;
  aim_ = between(camera_random_, 0.16, 0.5) * std::pow(person_.skin / 0.3F, 0.25F);
}

void Drawing::darken_lens(const std::vector<Eigen::Vector3f>& outline) {
  std::vector<float> xs, ys;
  float nearest = std::numeric_limits<float>::infinity();
  for (const Eigen::Vector3f& p : outline) {
    const Eigen::Vector3f projected = camera_.project(to_camera(p));
    xs.push_back(projected.x()), ys.push_back(projected.y());
    nearest = std::min(nearest, projected.z());
  }
  const auto [first_x, last_x] = std::minmax_element(xs.begin(), xs.end());
  const auto [first_y, last_y] = std::minmax_element(ys.begin(), ys.end());
  const int left = std::max(0, int(*first_x)), top = std::max(0, int(*first_y));
  const int right = std::min(bright_.width() - 1, int(*last_x) + 1);
  const int bottom = std::min(bright_.height() - 1, int(*last_y) + 1);
  if (left > right || top > bottom) return;
  for (float& x : xs) x -= float(left);
  for (float& y : ys) y -= float(top);
  Field inside(right - left + 1, bottom - top + 1);
  fill_polygon(inside, xs, ys);
  const float gleam = between(prop_random_, 0, 0.08) * skin_light_;
  for (int y = top; y <= bottom; ++y)
    for (int x = left; x <= right; ++x)
      if (inside(x - left, y - top) > 0 && raster_.at(x, y).depth > nearest - 0.5F)
        bright_(x, y) = bright_(x, y) * glasses_.tint + gleam;
}

bool Drawing::held_before(float x, float y, Eigen::Vector3f& normal) const {
  float deepest = 0;
  for (const Bar& bar : bars_) {
    if (!bar.may_hold({x, y})) continue;
    Eigen::Vector3f there;
    const float inside = bar.inside({x, y}, there);
    if (inside > deepest) deepest = inside, normal = there;
  }
  return deepest > 0;
}

// The head before its background and behind what is held, sample by sample; a pixel is the mean.
void Drawing::compose() {
  const float exposure = aim_ / std::max(skin_light_, 1e-4F);
  const float gamma = 1 / between(camera_random_, 1.8, 2.4);
  const float contrast = between(camera_random_, -0.1, 0.6);
  const float middle_tone = std::pow(0.8F * aim_, gamma);
  const Field back =
      make_background(side_, side_, studio_.backgrounds, studio_.noise, back_random_);
  if (options_.occluders && prop_random_.uniform() < 0.16)
    bars_ = hold_something(middle_, extent_, prop_random_);
  const float held_light =
      skin_light_ * (prop_random_.uniform() < 0.6 ? between(prop_random_, 0.6, 1.3)
                                                  : between(prop_random_, 0.05, 1.5));
  const Grain held_grain = Grain::random(prop_random_, 0.08F * extent_, 0.08F * extent_);
  const float level = light_.harmonics[0] + 0.6F * light_.strength + 0.1F;
  covered_ = Field(side_, side_);
  Field picture(side_, side_);
  for (int y = 0; y < side_; ++y)
    for (int x = 0; x < side_; ++x) {
      const float b = clamp01(back(x, y)), behind = b * b;  // linear
      float sum = 0;
      for (int i = 0; i < kSamples * kSamples; ++i) {
        const int sx = kSamples * x + i % kSamples, sy = kSamples * y + i / kSamples;
        float value = raster_.at(sx, sy).triangle < 0 ? behind : bright_(sx, sy) * exposure;
        if (Eigen::Vector3f normal; held_before(float(sx), float(sy), normal)) {
          const float shaded = light_.ambient(normal) +
                               light_.strength * std::max(0.0F, normal.dot(light_.direction));
          value = held_light * exposure * shaded / level *
                  std::exp(0.2F * held_grain(studio_.noise, float(sx), float(sy)));
          covered_(x, y) = 1;
        }
        sum += std::min(value, 1.1F);
      }
      const float toned = std::pow(clamp01(sum / (kSamples * kSamples)), gamma);
      picture(x, y) = clamp01(toned + contrast * (toned - middle_tone));
    }
  face_.picture = photograph(std::move(picture), options_.camera, studio_.noise, camera_random_);
}

void Drawing::measure() {
  for (Index k = 0; k < 68; ++k) {
    const Eigen::Vector3f seen = camera_.project(landmarks_[std::size_t(k)]);
    face_.points.col(k) = to_pixels(seen);
    // A contour's own sample may show what is behind it: its neighbours count, too.
    bool visible = false;
    const int px = int(std::lround(seen.x())), py = int(std::lround(seen.y()));
    for (int y = std::max(0, py - 1); y <= std::min(raster_.height() - 1, py + 1); ++y)
      for (int x = std::max(0, px - 1); x <= std::min(raster_.width() - 1, px + 1); ++x)
        visible |= raster_.at(x, y).depth > seen.z() - 0.5F;
    const int x = int(std::lround(face_.points(0, k))), y = int(std::lround(face_.points(1, k)));
    face_.visible[std::size_t(k)] =
        visible && x >= 0 && y >= 0 && x < side_ && y < side_ && covered_(x, y) == 0;
  }
  for (Index k = 0; k < 2; ++k)
    face_.pupils.col(k) =
        to_pixels(camera_.project(scene_.points.col(studio_.pupils[std::size_t(k)])));
  face_.box_size = 2.06F * unit_ * float(std::exp(0.06 * pose_random_.normal()));
  face_.box_corner =
      0.5F * (face_.points.rowwise().minCoeff() + face_.points.rowwise().maxCoeff()).array() -
      0.5F * face_.box_size;
  face_.box_corner.x() += float(0.06 * pose_random_.normal()) * unit_;
  face_.box_corner.y() += float(0.06 * pose_random_.normal()) * unit_;
}

}  // namespace

RenderedFace draw_face(const Studio& studio, std::uint64_t number) {
  return Drawing(studio, number).draw();
}

}  // namespace sdm::render
