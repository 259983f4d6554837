#include "rigid/train/pictures.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sdm/base/random.h"
#include "sdm/base/thread_pool.h"
#include "sdm/image/augment.h"

namespace sdm::rigid {
namespace {

constexpr double kSurround = 0.5;  // of the longer side, around the template: seen in training
constexpr std::size_t kPictures = 24;

}  // namespace

Pictures::Pictures(image::ByteView frame, const TemplateShape& shape, const Warp& warp,
                   const TrainTrackerOptions& options) {
  FrameWindow window(false, kSurround);
  window.look(frame, shape, warp);
  const image::ByteView view = window.view();
  from_template_ = window.in_view(warp);
  image::Image<float> clean(view.width, view.height);
  for (int y = 0; y < view.height; ++y) std::copy_n(view.row(y), view.width, clean.view().row(y));

  const double longest = options.blur * scale_of(from_template_);
  const bool varied = longest > 0 || options.noise > 0;
  raw_.assign(varied ? kPictures : 1, {});
  smoothed_.assign(raw_.size(), {});
  ThreadPool pool(options.threads);
  pool.run(static_cast<Index>(raw_.size()), [&](Index i, int) {
    image::Image<float> seen = clean;
    if (i > 0) {
      const auto number = static_cast<std::uint64_t>(i);
      Random random(options.seed, "template pictures", number);
      const auto uniform = [&](double to) { return float(random.uniform(0, to)); };
      const float length = uniform(longest), angle = uniform(std::numbers::pi);
      image::motion_blur(clean, length, angle, seen);
      image::add_noise(seen, uniform(options.noise), options.seed, number);
    }
    image::Image<std::uint8_t>& raw = raw_[static_cast<std::size_t>(i)];
    raw = image::Image<std::uint8_t>(view.width, view.height);
    for (int y = 0; y < view.height; ++y)
      for (int x = 0; x < view.width; ++x)
        raw(x, y) = static_cast<std::uint8_t>(std::clamp(seen(x, y), 0.F, 255.F) + 0.5F);
    image::Image<std::uint8_t>& smoothed = smoothed_[static_cast<std::size_t>(i)];
    smoothed = image::Image<std::uint8_t>(view.width, view.height);
    std::vector<std::uint16_t> row(std::size_t(view.width) + 4);
    smooth(raw, smoothed, row);
  });
}

Warp draw_warp(const TrainTrackerOptions& options, double stretch, Random& random) {
  Parameters p(parameter_count(options.motion));
  const Index linear = options.motion == Motion::homography ? 4 : p.size() - 2;
  for (Index k = 0; k < p.size(); ++k) {
    const double deviation = k < linear       ? options.linear_deviation
                             : k < linear + 2 ? options.translation_deviation
                                              : options.perspective_deviation;
    p[k] = stretch * deviation * random.normal();
  }
  return warp_of(options.motion, p);
}

}  // namespace sdm::rigid
