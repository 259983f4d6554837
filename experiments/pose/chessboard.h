#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sdm/pose/camera.h"

namespace sdm::experiments {

/// Real views of a chessboard with a calibrated camera; the image points are free of distortion.
struct Chessboard {
  struct View {
    std::string name;
    pose::Points2 pixels;
  };
  pose::Camera camera;
  pose::Points3 board;  // in squares, z = 0
  std::vector<View> views;
};

/// Reads the text form "K fx fy cx cy D k1 k2 p1 p2 k3", then for every view "VIEW name rvec tvec"
/// and a line "X Y u v" for each corner. Throws Error with the line.
Chessboard read_chessboard(const std::filesystem::path& path);

}  // namespace sdm::experiments
