#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "apps/sdm/commands.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/output.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/rendering.h"
#include "apps/sdm/tell.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/io/file.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

struct RenderArguments {
  RenderingArguments rendering;
  Index count = 1000;
  std::uint64_t first = 0;
  int empty = 0;
  fs::path output;
};

std::string line_of(const std::string& file, const render::RenderedFace& face) {
  std::string line = file;
  for (Index k = 0; k < face.points.cols(); ++k)
    line += fmt::format(",{:.2f},{:.2f}", face.points(0, k), face.points(1, k));
  return line + "\n";
}

std::string details_of(const std::string& file, const render::RenderedFace& face) {
  std::string visible;
  for (const bool seen : face.visible) visible += seen ? '1' : '0';
  return fmt::format("{},{:.2f},{:.2f},{:.2f},{:.2f},{:.2f},{:.2f},{:.2f},{:.4f},{},{}\n", file,
                     face.yaw, face.pitch, face.roll, face.pupils(0, 0), face.pupils(1, 0),
                     face.pupils(0, 1), face.pupils(1, 1), face.reflectance, face.skin, visible);
}

void run(const RenderArguments& a) {
  const fs::path truth = a.output / "faces.csv", boxes = a.output / "faces_boxes.csv",
                 details = a.output / "faces_details.csv";
  const std::vector<fs::path> inputs = files_to_render(a.rendering);
  Outputs outputs;
  outputs.reads(inputs).writes(truth).writes(boxes).writes(details);
  const fs::path faces = a.output / "faces", empty = a.output / "empty";
  fs::create_directories(faces);
  if (a.empty > 0) fs::create_directories(empty);
  for (const fs::path& input : inputs)
    for (const fs::path& folder : {faces, empty})
      if (std::error_code none; fs::equivalent(fs::absolute(input).parent_path(), folder, none))
        throw Error(fmt::format("{}: would be written over: take another folder to write to",
                                input.string()));
  ThreadPool pool(a.rendering.threads);
  const render::FaceRenderer renderer = make_renderer(a.rendering, pool);

  // Pictures are written as they come; a line of each table is kept for its end.
  struct Lines {
    std::string points, box, details;
  };
  std::vector<Lines> lines(std::size_t(a.count));
  Progress progress("rendering");
  const auto start = std::chrono::steady_clock::now();
  const Index chunk = 64;
  for (Index from = 0; from < a.count; from += chunk) {
    progress.update(double(from) / double(a.count));
    pool.run(std::min(chunk, a.count - from), [&](Index i, int) {
      const std::uint64_t number = a.first + std::uint64_t(from + i);
      const render::RenderedFace face = renderer.draw(number);
      const std::string file = fmt::format("faces/{:06}.png", number);
      opencv::write_image(a.output / file, opencv::mat(face.picture));
      lines[std::size_t(from + i)] = {
          line_of(file, face),
          fmt::format("{},{:.2f},{:.2f},{:.2f},{:.2f}\n", file, face.box_corner.x(),
                      face.box_corner.y(), face.box_size, face.box_size),
          details_of(file, face)};
    });
  }
  pool.run(a.empty, [&](Index i, int) {
    opencv::write_image(a.output / fmt::format("empty/{:06}.png", i),
                        opencv::mat(renderer.draw_background(640, 480, std::uint64_t(i))));
  });
  progress.clear();
  std::string points = "file", all_boxes = "file,x,y,w,h\n",
              all_details =
                  "file,yaw,pitch,roll,left_pupil_x,left_pupil_y,right_pupil_x,right_pupil_y,"
                  "reflectance,skin,visible\n";
  for (int k = 0; k < 68; ++k) points += fmt::format(",x{},y{}", k, k);
  points += "\n";
  for (const Lines& one : lines) {
    points += one.points;
    all_boxes += one.box;
    all_details += one.details;
  }
  io::write_text(truth, points);
  io::write_text(boxes, all_boxes);
  io::write_text(details, all_details);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  say("{} faces in {:.1f} s, {:.1f} a second and core\nwrote {}, {} and {}\n", a.count, seconds,
      double(a.count) / seconds / pool.threads(), truth.string(), boxes.string(), details.string());
}

}  // namespace

void add_render(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("render", "Draw faces with their landmarks, to train models on");
  auto a = std::make_shared<RenderArguments>();
  add_rendering_options(*command, a->rendering);
  command->get_option("--ict")->required();
  command->add_option("-n,--count", a->count, "How many")->check(kPositive)->capture_default_str();
  command->add_option("--first", a->first, "The number of the first one: further faces of a seed")
      ->check(kNotNegative)
      ->capture_default_str();
  command->add_option("--empty", a->empty, "Also so many pictures without a face")
      ->check(kNotNegative)
      ->capture_default_str();
  command->add_option("-o,--output", a->output, "The folder to write to")->required();
  command->footer(
      "Writes faces.csv (the 68 points), faces_boxes.csv, faces_details.csv (pose, pupils, which\n"
      "points are visible) and the pictures. Example:\n"
      "  sdm render --ict ICT-FaceKit/FaceXModel -n 2000 -o rendered\n"
      "  sdm train rendered/faces.csv --preset fast -o mine.sdm");
  command->callback([a] { run(*a); });
}

}  // namespace sdm::app
