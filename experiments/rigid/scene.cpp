#include "experiments/rigid/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiments/photographs.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/image/augment.h"
#include "sdm/image/warp.h"

#ifdef SDM_HAVE_OPENCV
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#endif

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;
using rigid::Warp;

// The template lies where the texture says most in all directions: the largest smaller eigenvalue
// of the gradients' covariance over the window, away from the border.
Eigen::Vector2d best_anchor(image::FloatView picture) {
  const int half = Scene::kTemplate / 2;
  const int margin_x = std::min(picture.width * 2 / 5, Scene::kWidth / 2 + 100);
  const int margin_y = std::min(picture.height * 2 / 5, Scene::kHeight / 2 + 80);
  const int centre_x = picture.width / 2, centre_y = picture.height / 2;
  Eigen::Vector2d best(centre_x - 0.5, centre_y - 0.5);
  double largest = -1;
  for (int cy = margin_y; cy <= picture.height - margin_y; cy += 8)
    for (int cx = margin_x; cx <= picture.width - margin_x; cx += 8) {
      double xx = 0, xy = 0, yy = 0;
      for (int y = cy - half; y < cy + half; y += 2)
        for (int x = cx - half; x < cx + half; x += 2) {
          const double gx = picture(x + 1, y) - picture(x - 1, y);
          const double gy = picture(x, y + 1) - picture(x, y - 1);
          xx += gx * gx;
          xy += gx * gy;
          yy += gy * gy;
        }
      const double smaller = (xx + yy - std::hypot(xx - yy, 2 * xy)) / 2;
      if (smaller > largest) {
        largest = smaller;
        best = {cx - 0.5, cy - 0.5};
      }
    }
  return best;
}

Texture make_texture(std::string name, image::Image<float> picture) {
  const Eigen::Vector2d anchor = best_anchor(picture);
  return {std::move(name), std::move(picture), anchor};
}

// Discs of many sizes and greys over each other: edges in all directions at all scales.
image::Image<float> draw_texture(std::uint64_t seed) {
  Random random(seed, "drawn texture");
  const auto uniform = [&](double from, double to) { return random.uniform(from, to); };
  image::Image<float> picture(768, 512, 128);
  for (int i = 0; i < 900; ++i) {
    const double radius = 40 * std::pow(uniform(0.15, 1), 2) + 2;
    const double cx = uniform(0, 768), cy = uniform(0, 512), grey = uniform(20, 235);
    for (int y = std::max(0, int(cy - radius)); y < std::min(512, int(cy + radius) + 1); ++y)
      for (int x = std::max(0, int(cx - radius)); x < std::min(768, int(cx + radius) + 1); ++x)
        if (std::hypot(x - cx, y - cy) < radius) picture(x, y) = float(grey);
  }
  image::motion_blur(picture, 2, 0.4F, picture);
  return picture;
}

#ifdef SDM_HAVE_OPENCV
image::Image<float> read_picture(const fs::path& path) {
  cv::Mat grey = cv::imread(path.string(), cv::IMREAD_GRAYSCALE);
  if (grey.empty()) throw Error(fmt::format("{}: cannot be read as a picture", path.string()));
  const double shrink = std::max(1.0, std::max(grey.cols, grey.rows) / 800.0);
  if (shrink > 1) cv::resize(grey, grey, {}, 1 / shrink, 1 / shrink, cv::INTER_AREA);
  if (std::min(grey.cols, grey.rows) < 256)
    throw Error(fmt::format("{}: {} x {} px, expected at least 256 px a side", path.string(),
                            grey.cols, grey.rows));
  image::Image<float> picture(grey.cols, grey.rows);
  for (int y = 0; y < grey.rows; ++y)
    for (int x = 0; x < grey.cols; ++x) picture(x, y) = grey.at<std::uint8_t>(y, x);
  return picture;
}

std::vector<Texture> read_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (cv::haveImageReader(entry.path().string())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Texture> textures;
  for (const fs::path& file : files) {
    // "mansion_kodim24.png" is the mansion; a second picture of one name is left out.
    const std::string stem = file.stem().string(), name = stem.substr(0, stem.find('_'));
    const bool known = std::any_of(textures.begin(), textures.end(),
                                   [&](const Texture& t) { return t.name == name; });
    if (!known) textures.push_back(make_texture(name, read_picture(file)));
  }
  return textures;
}
#endif

}  // namespace

std::vector<Texture> load_textures(const ExperimentContext& context, std::string& source) {
  const std::size_t wanted = context.quick ? 2 : 6;
  std::vector<Texture> textures;
#ifdef SDM_HAVE_OPENCV
  fs::path folder;
  try {
    folder = find_data(context, "rigid/photos");
  } catch (const Error&) {
    if (!context.data.empty()) throw;
  }
  if (!folder.empty()) {
    textures = read_folder(folder);
    if (textures.empty()) throw Error(fmt::format("no pictures in {}", folder.string()));
    if (context.quick && textures.size() > wanted) textures.resize(wanted);
    source = "photographs of the data folder";
    return textures;
  }
  for (const fs::path& path : installed_photographs())
    if (textures.size() < wanted)
      textures.push_back(make_texture(path.stem().string(), read_picture(path)));
#endif
  const std::size_t photographs = textures.size(), drawn = wanted - photographs;
  for (std::size_t i = 1; i <= drawn; ++i)
    textures.push_back(make_texture(fmt::format("drawn{}", i), draw_texture(i)));
  const auto many = [](std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  source = photographs == 0 ? many(drawn, "drawn texture")
                            : many(photographs, "photograph") + " of installed packages";
  if (photographs > 0 && drawn > 0) source += " and " + many(drawn, "drawn texture");
  return textures;
}

Scene::Scene(const Texture& texture, std::uint64_t seed, const View& view)
    : texture_(texture),
      view_(view),
      noise_(std::size_t(view.width) * std::size_t(view.height) + 65536),
      seed_(seed),
      sum_(view.width, view.height),
      exposure_(view.width, view.height),
      frame_(view.width, view.height) {
  image::add_noise({noise_.data(), int(noise_.size()), 1}, 1, seed);
}

rigid::Quad Scene::region() const {
  const double half = (kTemplate - 1) / 2.0;
  return rigid::quad_of_box(view_.middle.x() - half, view_.middle.y() - half, kTemplate, kTemplate);
}

Warp Scene::truth(const Warp& motion) const {
  Warp middle = Warp::Identity();
  middle.topRightCorner<2, 1>() = view_.middle;
  return rigid::compose(middle, motion);
}

image::ByteView Scene::render(const Warp& from, const Warp& to, const Conditions& c,
                              std::uint64_t number) {
  const rigid::TemplateShape shape;
  const double path =
      (shape.corners(truth(from)) - shape.corners(truth(to))).colwise().norm().maxCoeff();
  const int exposures = std::clamp(int(std::ceil(path)), 1, 16);
  Warp to_photo = Warp::Identity();
  to_photo.topRightCorner<2, 1>() = texture_.anchor;
  for (int i = 0; i < exposures; ++i) {
    const double share = (i + 0.5) / exposures;
    const Warp seen = rigid::inverse(truth((1 - share) * from + share * to));
    image::warp_projective(texture_.picture, rigid::compose(to_photo, seen),
                           i == 0 ? sum_.view() : exposure_.view());
    if (i == 0) continue;
    for (int k = 0; k < view_.width * view_.height; ++k)
      sum_.view().data[k] += exposure_.view().data[k];
  }
  for (int k = 0; k < view_.width * view_.height; ++k) sum_.view().data[k] /= float(exposures);
  if (c.blur > 1) image::motion_blur(sum_, float(c.blur), float(c.blur_angle), sum_);

  const float* noise = noise_.data() + Random(seed_, "frame noise", number).below(65536);
  for (int y = 0; y < view_.height; ++y) {
    const float row = float(c.gain * (1 + c.slope_y * (2.0 * y / view_.height - 1)));
    for (int x = 0; x < view_.width; ++x) {
      const float gain = row + float(c.gain * c.slope_x * (2.0 * x / view_.width - 1));
      const float value = (sum_(x, y) - 128) * gain + 128 + float(c.offset) +
                          float(c.noise) * noise[y * view_.width + x];
      frame_(x, y) = static_cast<std::uint8_t>(std::clamp(value, 0.F, 255.F) + 0.5F);
    }
  }
  return frame_;
}

namespace {

// The phase of an oscillation of which the template's corners take part by `reach` px to either
// side: their speed grows from 1 px a frame to 100, a template side, which nobody can follow.
double phase(double t, int n, double reach) {
  constexpr double kFirst = 1, kLast = 100;
  const double growth = std::log(kLast / kFirst) / n;
  return kFirst / reach * (std::exp(growth * t) - 1) / growth;
}

Warp rotation(double angle) {
  Warp w = Warp::Identity();
  w.topLeftCorner<2, 2>() << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  return w;
}

Warp shifted(double x, double y) {
  Warp w = Warp::Identity();
  w.topRightCorner<2, 1>() << x, y;
  return w;
}

// A plane turned by `tilt` about an axis a template side behind it, as a card in a hand, seen from
// 5 template sides away.
Warp tilted(double tilt, double axis) {
  constexpr double kDistance = 5 * Scene::kTemplate, kArm = Scene::kTemplate;
  const double depth = 1 + kArm * (1 - std::cos(tilt)) / kDistance;
  Warp w = Warp::Identity();
  w(0, 0) = std::cos(tilt);
  w(0, 2) = kArm * std::sin(tilt);
  w(2, 0) = std::sin(tilt) / kDistance;
  w(2, 2) = depth;
  w /= depth;
  return rigid::compose(rotation(axis), rigid::compose(w, rotation(-axis)));
}

// Every path also drifts a little, as hands do.
Warp drift(double t) { return shifted(8 * std::sin(t / 17), 6 * std::sin(t / 23)); }

}  // namespace

const std::vector<MotionPath>& motion_paths() {
  static const auto plain = [](double, int) { return Conditions{}; };
  static const std::vector<MotionPath> paths = {
      {"translation",
       [](double t, int n) {
         const double p = phase(t, n, 147);
         return shifted(120 * std::sin(p), 85 * std::sin(0.77 * p));
       },
       plain},
      {"lighting",
       [](double t, int) {
         const double p = t / 12;
         return shifted(30 * std::sin(p), 25 * std::sin(0.7 * p));
       },
       [](double t, int n) {
         const double strength = t / n, p = t / 6;
         Conditions c;
         c.gain = std::exp(-3.2 * strength * (0.5 - 0.5 * std::cos(p)));
         c.offset = 90 * strength * std::sin(0.6 * p);
         c.slope_x = 0.6 * strength * std::sin(0.8 * p);
         c.slope_y = 0.6 * strength * std::sin(0.5 * p);
         return c;
       }},
      {"rotation",
       [](double t, int n) {
         return rigid::compose(drift(t), rotation(1.2 * std::sin(phase(t, n, 85))));
       },
       plain},
      {"out_of_plane",
       [](double t, int n) {
         const double p = phase(t, n, 120);
         return rigid::compose(drift(t),
                               tilted(1.2 * t / n * std::sin(p), 0.6 * std::sin(0.21 * p)));
       },
       plain},
      {"scaling",
       [](double t, int n) {
         const double s = std::exp(0.5 * std::sin(phase(t, n, 35)));
         Warp w = Warp::Identity();
         w(0, 0) = w(1, 1) = s;
         return rigid::compose(drift(t), w);
       },
       plain},
  };
  return paths;
}

}  // namespace sdm::experiments
