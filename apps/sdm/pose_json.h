#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "sdm/base/types.h"
#include "sdm/pose/head_pose.h"

namespace sdm::app {

/// A thousandth of a pixel is enough for a reader.
inline double rounded(double value) { return std::round(value * 1000) / 1000; }
inline double rounded(float value) { return rounded(double(value)); }
inline nlohmann::ordered_json rounded(const Vector<float>& values) {
  auto json = nlohmann::ordered_json::array();
  for (const float value : values) json.push_back(rounded(value));
  return json;
}

/// A head's pose as every command writes it; angles in degrees.
inline nlohmann::ordered_json pose_json(const pose::HeadPose& pose) {
  return {{"yaw", rounded(pose.yaw)},
          {"pitch", rounded(pose.pitch)},
          {"roll", rounded(pose.roll)},
          {"position", {rounded(pose.position.x()), rounded(pose.position.y())}},
          {"scale", rounded(pose.scale)}};
}

}  // namespace sdm::app
