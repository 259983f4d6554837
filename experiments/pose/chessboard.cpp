#include "experiments/pose/chessboard.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "sdm/base/error.h"

namespace sdm::experiments {
namespace {

/// Inverts the lens model x -> x (1 + k1 r2 + k2 r4 + k3 r6) + tangential by fixed-point iteration.
Eigen::Vector2d undistort(const Eigen::Vector2d& seen, const double (&d)[5]) {
  Eigen::Vector2d p = seen;
  for (int i = 0; i < 50; ++i) {
    const double x = p.x(), y = p.y(), r2 = p.squaredNorm();
    const double radial = 1 + r2 * (d[0] + r2 * (d[1] + r2 * d[4]));
    const Eigen::Vector2d tangential(2 * d[2] * x * y + d[3] * (r2 + 2 * x * x),
                                     d[2] * (r2 + 2 * y * y) + 2 * d[3] * x * y);
    p = (seen - tangential) / radial;
  }
  return p;
}

}  // namespace

Chessboard read_chessboard(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("{}: cannot be read", path.string()));
  Chessboard out;
  double distortion[5] = {};
  std::vector<std::vector<Eigen::Vector4d>> corners;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string word;
    if (line.empty() || line[0] == '#') continue;
    bool good = true;
    if (line[0] == 'K') {
      std::string mark;
      pose::Camera& c = out.camera;
      words >> mark >> c.fx >> c.fy >> c.cx >> c.cy >> mark;
      for (double& value : distortion) words >> value;
      good = static_cast<bool>(words);
    } else if (line.starts_with("VIEW")) {
      words >> word;
      good = static_cast<bool>(words >> out.views.emplace_back().name);
      corners.emplace_back();
    } else {
      Eigen::Vector4d corner;
      words >> corner[0] >> corner[1] >> corner[2] >> corner[3];
      good = words && !corners.empty();
      if (good) corners.back().push_back(corner);
    }
    if (!good)
      throw Error(fmt::format("{}:{}: \"{}\", expected a camera, a view or X Y u v", path.string(),
                              number, line));
  }
  if (corners.empty()) throw Error(fmt::format("{}: no view", path.string()));
  const auto count = static_cast<Eigen::Index>(corners.front().size());
  out.board = pose::Points3::Zero(3, count);
  for (std::size_t v = 0; v < corners.size(); ++v) {
    if (static_cast<Eigen::Index>(corners[v].size()) != count)
      throw Error(fmt::format("{}: view {} has {} corners, expected {}", path.string(), v,
                              corners[v].size(), count));
    pose::Points2 seen(2, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const Eigen::Vector4d& corner = corners[v][static_cast<std::size_t>(i)];
      out.board.col(i).head<2>() = corner.head<2>();
      seen.col(i) = corner.tail<2>();
    }
    pose::Points2 straight = pose::normalise(out.camera, seen);
    for (Eigen::Index i = 0; i < count; ++i)
      straight.col(i) = undistort(straight.col(i), distortion);
    out.views[v].pixels = pose::to_pixels(out.camera, straight);
  }
  return out;
}

}  // namespace sdm::experiments
