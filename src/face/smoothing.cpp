#include "sdm/face/smoothing.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

// How much of a variance a frame tells, and how far above it counts: a jump is no noise.
constexpr float kLearned = 0.05F, kMostVariance = 9;
// 1 - 4 + 6 - 4 + 1 times white noise of two coordinates has 2 * 70 times its variance.
constexpr float kFourthDifference = 140;
// The least that a point counts: one that stays hidden still goes the way of its face.
constexpr float kLeastSeen = 0.1F;

}  // namespace

void SmoothingOptions::validate() const {
  const auto require = [](const char* what, double value) {
    if (!(value > 0) || !std::isfinite(value))
      throw Error(formatted("smoothing: the {} is {}, expected more than 0", what, value));
  };
  require("memory", memory);
  require("limit of what is still", still);
  require("limit of what has moved", moved);
  require("noise", noise);
  if (!(moved > still))
    throw Error(
        formatted("smoothing: the limit of what has moved is {}, expected more than {}, "
                  "that of what is still",
                  moved, still));
}

Smoother::Smoother(const Shape& mean, const SmoothingOptions& options)
    : options_(options),
      mean_(mean),
      now_(2, mean.cols() + 2),
      smooth_(now_),
      noise_(mean.cols() + 2),
      frames_(mean.cols() + 2) {
  options.validate();
  before_.fill(now_);
}

void Smoother::apply(Eigen::Ref<Shape> points, double seconds, const Vector<float>& visible) {
  const double passed = seconds - seconds_;
  seconds_ = seconds;
  const Similarity place = fit_similarity(mean_, points);
  now_.col(0) << place.x, place.y;
  now_.col(1) << place.a, place.b;
  place.to_face(points, now_.rightCols(mean_.cols()));
  if (!started_ || !(passed > 0) || !std::isfinite(passed)) {
    started_ = true;
    seen_ = 0;
    smooth_ = now_;
    noise_ = static_cast<float>(options_.noise * options_.noise);
    frames_ = 1;
  } else {
    const auto still = static_cast<float>(options_.still),
               moved = static_cast<float>(options_.moved),
               most = static_cast<float>(std::max(1.0, options_.memory / passed));
    for (Eigen::Index i = 0; i < now_.cols(); ++i) {
      const float unit = i < 2 ? place.scale() : 1;
      float &noise = noise_[i], &frames = frames_[i];
      const Eigen::Vector2f value = now_.col(i);
      if (seen_ >= 4) {
        const Eigen::Vector2f unexplained = value - 4 * before_[0].col(i) + 6 * before_[1].col(i) -
                                            4 * before_[2].col(i) + before_[3].col(i);
        const float variance = (unexplained / unit).squaredNorm() / kFourthDifference;
        noise += kLearned * (std::min(variance, kMostVariance * noise) - noise);
      }
      const Eigen::Vector2f off = value - smooth_.col(i);
      // One that is more probably seen than not counts in full.
      const float seen =
          i < 2 || visible.size() == 0 ? 1 : std::clamp(2 * visible[i - 2], kLeastSeen, 1.0F);
      // Both the value and the mean have noise.
      const float deviations =
          (off / unit).norm() / std::sqrt(std::max(noise * (1 / seen + 1 / frames), 1e-14F));
      // A guess that jumps is no sign of motion.
      const float forgotten = seen * std::clamp((deviations - still) / (moved - still), 0.0F, 1.0F);
      frames = std::min(seen + frames * (1 - forgotten), most);
      smooth_.col(i) += seen / frames * off;
    }
  }
  seen_ = std::min(seen_ + 1, 4);
  std::rotate(before_.begin(), before_.end() - 1, before_.end());
  before_[0] = now_;
  if (seen_ == 1) return;  // the first ones stay as they are, to the last bit
  const Similarity calm{smooth_(0, 1), smooth_(1, 1), smooth_(0, 0), smooth_(1, 0)};
  calm.to_image(smooth_.rightCols(mean_.cols()), points);
}

}  // namespace sdm::face
