#include "sdm/face/smoothing.h"

#include <cmath>
#include <numbers>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

// How much of a new value a low-pass of this cutoff takes after this time.
float share(double cutoff, double seconds) {
  const double way = 2 * std::numbers::pi * cutoff * seconds;
  return static_cast<float>(way / (1 + way));
}

}  // namespace

void SmoothingOptions::validate() const {
  const auto require = [](const char* what, double value) {
    if (!(value > 0) || !std::isfinite(value))
      throw Error(formatted("smoothing: the {} is {}, expected more than 0", what, value));
  };
  require("cutoff", cutoff);
  require("speed cutoff", speed_cutoff);
  require("derivative", derivative);
}

Smoother::Smoother(const Shape& mean, const SmoothingOptions& options)
    : options_(options), mean_(mean), shape_(mean), raw_(mean), speed_(mean) {
  options.validate();
}

void Smoother::apply(Eigen::Ref<Shape> points, double seconds) {
  const double passed = seconds - seconds_;
  seconds_ = seconds;
  const Similarity now = fit_similarity(mean_, points);
  if (!started_ || !(passed > 0) || !std::isfinite(passed)) {
    started_ = true;
    frame_ = raw_frame_ = now;
    now.to_face(points, shape_);
    raw_ = shape_;
    speed_.setZero();
    drift_.setZero();
    turn_.setZero();
    return;
  }
  const float unit = now.scale(), known = share(options_.derivative, passed);
  const auto rate = static_cast<float>(1 / passed);
  const auto taken = [&](const Eigen::Vector2f& speed) {
    return share(options_.cutoff + options_.speed_cutoff * static_cast<double>(speed.norm()),
                 passed);
  };

  const Eigen::Vector2f drift(now.x - raw_frame_.x, now.y - raw_frame_.y),
      turn(now.a - raw_frame_.a, now.b - raw_frame_.b);
  drift_ += known * (drift * (rate / unit) - drift_);
  turn_ += known * (turn * (rate / unit) - turn_);
  raw_frame_ = now;
  const float place = taken(drift_), pose = taken(turn_);
  frame_.x += place * (now.x - frame_.x);
  frame_.y += place * (now.y - frame_.y);
  frame_.a += pose * (now.a - frame_.a);
  frame_.b += pose * (now.b - frame_.b);

  now.to_face(points, points);
  for (Eigen::Index p = 0; p < points.cols(); ++p) {
    const Eigen::Vector2f at = points.col(p);
    speed_.col(p) += known * ((at - raw_.col(p)) * rate - speed_.col(p));
    raw_.col(p) = at;
    shape_.col(p) += taken(speed_.col(p)) * (at - shape_.col(p));
  }
  frame_.to_image(shape_, points);
}

}  // namespace sdm::face
