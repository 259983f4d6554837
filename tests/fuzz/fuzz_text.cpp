// Every text that we read, MATLAB's and NumPy's matrices, and what a page sends: whatever the
// bytes, sdm::Error or what is in them.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "apps/sdm/annotate/marks.h"
#include "experiments/nist/problem.h"
#include "experiments/rigid/mat_file.h"
#include "render/npy.h"
#include "render/obj.h"
#include "sdm/base/error.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/data/sense.h"
#include "sdm/pose/object.h"
#include "sdm/render/head_model.h"
#include "tests/fuzz/memory_folder.h"
#include "tests/fuzz/text_formats.h"

namespace {

namespace fs = std::filesystem;
using namespace sdm;

void write_file(const fs::path& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) std::abort();
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

void read_landmarks(const fs::path& path, bool skip_bad) {
  face::ReadOptions options;
  options.skip_bad = skip_bad;
  options.size_of = [](const fs::path&) { return face::PictureSize{100, 80}; };
  options.text.bytes = 1 << 16;
  options.most_points = 1 << 20;
  const face::Annotations read = face::read_annotations(path, options);
  for (const face::Annotation& face : read.faces)
    if (face.points.cols() != Index(read.ids.size())) std::abort();
  face::check_sense(read, std::vector<face::PictureSize>(read.faces.size(), {100, 80}));
}

// A head of three vertices, but for the file that is tried.
void read_head(const fs::path& path) {
  [[maybe_unused]] static const bool written = [] {
    for (const fuzz::TextFormat& format : fuzz::text_formats()) {
      if (format.file == "head.obj")
        write_file(fuzz::memory_folder() / "generic_neutral_mesh.obj", format.examples.front());
      if (format.file == "identity.npy") {
        write_file(fuzz::memory_folder() / "identity.npy", format.examples.front());
        write_file(fuzz::memory_folder() / "expression.npy", format.examples.front());
      }
    }
    return true;
  }();
  const render::HeadModel head = render::read_head_model(path.parent_path());
  for (const int vertex : head.landmarks)
    if (vertex < 0 || vertex >= head.neutral.cols()) std::abort();
}

// What is marked is written as it was read.
void read_marks(const std::string& name, std::string_view text) {
  constexpr std::size_t kPoints = 2;
  const auto again = [](const app::MarkedPicture& picture) {
    const std::string line = app::to_json(picture).dump();
    if (app::to_json(app::read_picture(line, kPoints)).dump() != line) std::abort();
  };
  if (name == "sent_box.json") {
    if (!(app::read_sent_box(text).width > 0)) std::abort();
  } else if (name == "sent_marks.json") {
    again(app::read_sent_marks(text, kPoints).picture);
  } else {
    const std::size_t end = std::min(text.find('\n'), text.size());
    app::read_journal_points(text.substr(0, end));
    again(app::read_picture(text.substr(std::min(end + 1, text.size())), kPoints));
  }
}

void read_one(const fs::path& path, bool other_way) {
  const std::string name = path.filename().string(), ending = path.extension().string();
  if (name == "boxes.csv") {
    const face::BoxTable table = face::read_box_table(path);
    for (const std::string& detector : table.detectors) table.of(detector);
  } else if (name == "mirror.txt") {
    face::read_mirror(path);
  } else if (name == "head.obj") {
    const render::Obj obj = render::read_obj(path);
    if (obj.corners.size() != obj.triangles.size() || obj.group.size() != obj.triangles.size())
      std::abort();
  } else if (ending == ".obj" || name == "points.csv") {
    pose::read_object(path.string(), other_way ? "a" : "");
  } else if (ending == ".dat") {
    const experiments::NistProblem problem = experiments::read_nist(path);
    problem.rss(problem.certified);
  } else if (ending == ".mat") {
    experiments::read_mat_file(path);
  } else if (ending == ".npy") {
    render::read_npy(path);
  } else if (ending == ".json") {
    read_head(path);
  } else {
    read_landmarks(path, other_way);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& formats = fuzz::text_formats();
  const std::string& name = formats[data[0] % formats.size()].file;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (name.starts_with("sent_") || name == "journal.jsonl") {
      read_marks(name, text);
    } else {
      // The array of a head stays good while its indices are tried.
      const fs::path path = fuzz::memory_folder() / (name == "identity.npy" ? "a.npy" : name);
      write_file(path, text);
      read_one(path, data[0] / formats.size() % 2 != 0);
    }
  } catch (const sdm::Error&) {
  }
  return 0;
}
