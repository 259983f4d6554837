#include "experiments/pose/chessboard.h"

#include <fmt/format.h>

#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/file.h"

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
  const TextLines file = io::read_lines(path);
  Chessboard out;
  double distortion[5] = {};
  std::vector<std::vector<Eigen::Vector4d>> corners;
  const auto read = [&](const std::vector<std::string>& words) {
    if (words[0] == "K" && words.size() >= 11) {  // K fx fy cx cy D k1 k2 p1 p2 k3
      out.camera = {to_number(words[1]), to_number(words[2]), to_number(words[3]),
                    to_number(words[4])};
      for (std::size_t k = 0; k < 5; ++k) distortion[k] = to_number(words[6 + k]);
    } else if (words[0] == "VIEW" && words.size() >= 2) {
      out.views.emplace_back().name = words[1];
      corners.emplace_back();
    } else if (words.size() >= 4 && !corners.empty()) {
      corners.back().emplace_back(to_number(words[0]), to_number(words[1]), to_number(words[2]),
                                  to_number(words[3]));
    } else {
      throw Error("another line");
    }
  };
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::vector<std::string> words = split_words(file.lines[i]);
    if (words.empty() || words[0].starts_with('#')) continue;
    try {
      read(words);
    } catch (const Error&) {
      file.fail(i, fmt::format("\"{}\", expected a camera, a view or X Y u v", file.lines[i]));
    }
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
