#include "sdm/rigid/motion.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::rigid {
namespace {

Warp normalised(const Warp& w) { return w / w(2, 2); }

}  // namespace

int parameter_count(Motion motion) {
  switch (motion) {
    case Motion::translation:
      return 2;
    case Motion::similarity:
      return 4;
    case Motion::affine:
      return 6;
    case Motion::homography:
      return 8;
  }
  return 0;
}

std::string to_string(Motion motion) {
  switch (motion) {
    case Motion::translation:
      return "translation";
    case Motion::similarity:
      return "similarity";
    case Motion::affine:
      return "affine";
    case Motion::homography:
      return "homography";
  }
  return "";
}

Motion motion_from_string(const std::string& name) {
  for (const Motion motion :
       {Motion::translation, Motion::similarity, Motion::affine, Motion::homography})
    if (to_string(motion) == name) return motion;
  throw Error(formatted(
      "there is no motion \"{}\", expected translation, similarity, affine or homography", name));
}

Warp compose(const Warp& a, const Warp& b) { return normalised(a * b); }

Warp inverse(const Warp& warp) { return normalised(warp.inverse()); }

Warp warp_of(Motion motion, const Parameters& p) {
  Warp w = Warp::Identity();
  if (motion == Motion::similarity) {
    w.topLeftCorner<2, 2>() << 1 + p[0], -p[1], p[1], 1 + p[0];
  } else if (motion != Motion::translation) {
    w.topLeftCorner<2, 2>() << 1 + p[0], p[1], p[2], 1 + p[3];
  }
  const int translation = motion == Motion::homography ? 4 : parameter_count(motion) - 2;
  w.topRightCorner<2, 1>() = p.segment<2>(translation);
  if (motion == Motion::homography) w.bottomLeftCorner<1, 2>() = p.tail<2>().transpose();
  return w;
}

Parameters parameters_of(Motion motion, const Warp& w) {
  Parameters p(parameter_count(motion));
  const Eigen::Vector2d t = w.topRightCorner<2, 1>();
  switch (motion) {
    case Motion::translation:
      p << t;
      break;
    case Motion::similarity:
      p << w(0, 0) - 1, w(1, 0), t;
      break;
    case Motion::affine:
      p << w(0, 0) - 1, w(0, 1), w(1, 0), w(1, 1) - 1, t;
      break;
    case Motion::homography:
      p << w(0, 0) - 1, w(0, 1), w(1, 0), w(1, 1) - 1, t, w(2, 0), w(2, 1);
      break;
  }
  return p;
}

Warp step(Motion motion, const Warp& warp, const Parameters& delta) {
  return compose(warp, warp_of(motion, delta));
}

Parameters difference(Motion motion, const Warp& warp, const Warp& target) {
  return parameters_of(motion, compose(inverse(warp), target));
}

Eigen::Vector2d apply(const Warp& warp, const Eigen::Vector2d& point) {
  return (warp * point.homogeneous()).hnormalized();
}

}  // namespace sdm::rigid
