#include "apps/sdm/annotations.h"

#include <fmt/format.h>

#include <cstdio>
#include <mutex>
#include <vector>

#include "apps/sdm/commands.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/tell.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/data/sense.h"
#include "sdm/opencv/picture_size.h"

namespace sdm::app {

const char* const kImagesHelp = "Folder of the pictures; else where the annotations are";
const char* const kStrictHelp = "Stop where annotations make little sense, instead of warning";

face::PictureSize size_of_picture(const std::filesystem::path& path) {
  const cv::Size size = opencv::picture_size(path);
  return {size.width, size.height};
}

namespace {
std::filesystem::path confined_to;  // by --root
}

void add_root(CLI::App& app) {
  app.add_option("--root", confined_to,
                 "Refuse annotations that name files outside of this folder: for those of others")
      ->check(CLI::ExistingDirectory);
}

face::ReadOptions read_options(bool skip_bad, const std::filesystem::path& pictures) {
  return {
      .skip_bad = skip_bad, .pictures = pictures, .size_of = size_of_picture, .root = confined_to};
}

face::Markup markup_of(const face::Annotations& annotations) {
  if (annotations.names.empty()) return face::markup_of(annotations.ids);
  face::Markup markup;
  markup.ids = annotations.ids;
  markup.names = annotations.names;
  return markup;
}

void add_inputs(Outputs& outputs, const face::Annotations& annotations) {
  for (const face::Annotation& face : annotations.faces) {
    outputs.reads(annotations.path(face));
    // FILE or FILE:LINE
    const std::size_t colon = face.where.find_last_not_of("0123456789");
    const bool line = colon != std::string::npos && colon > 0 && face.where[colon] == ':';
    outputs.reads(line ? face.where.substr(0, colon) : face.where);
  }
}

void report_sense(const face::Annotations& annotations, bool strict, int threads) {
  const std::size_t count = annotations.faces.size();
  std::vector<face::PictureSize> sizes(count);
  Progress progress("checking annotations");
  std::mutex mutex;
  std::size_t done = 0;
  ThreadPool pool(threads);
  pool.run(Index(count), [&](Index i, int) {
    const auto face = static_cast<std::size_t>(i);
    try {
      sizes[face] = size_of_picture(annotations.path(annotations.faces[face]));
    } catch (const Error&) {
      // Whoever reads the picture says so.
    }
    const std::lock_guard lock(mutex);
    progress.update(static_cast<double>(++done) / static_cast<double>(count));
  });
  progress.clear();
  constexpr std::size_t kShown = 20;
  const std::vector<face::Finding> findings = face::check_sense(annotations, sizes);
  for (std::size_t i = 0; i < findings.size() && (strict || i < kShown); ++i)
    tell("{}: {}: {}\n", strict ? "error" : "warning", findings[i].where, findings[i].what);
  if (strict && !findings.empty())
    throw Error(fmt::format("{} annotation{} little sense (--strict)", findings.size(),
                            findings.size() == 1 ? " makes" : "s make"));
  if (findings.size() > kShown)
    tell("warning: {} more of these; --strict tells all\n", findings.size() - kShown);
}

}  // namespace sdm::app
