// Every text that we read, and MATLAB's matrices: whatever the bytes, sdm::Error or what is in
// them.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "experiments/nist/problem.h"
#include "experiments/rigid/mat_file.h"
#include "sdm/base/error.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/data/sense.h"
#include "sdm/pose/object.h"
#include "tests/fuzz/text_formats.h"

namespace {

namespace fs = std::filesystem;
using namespace sdm;

// In memory, where the system can: a million files are written.
const fs::path& folder() {
  static const fs::path path = [] {
    const fs::path root = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    fs::path made = root / ("sdm_fuzz_text_" + std::to_string(::getpid()));
    fs::create_directories(made);
    std::atexit([] { fs::remove_all(folder()); });
    return made;
  }();
  return path;
}

void read_landmarks(const fs::path& path) {
  for (const bool skip : {false, true}) {
    face::ReadOptions options;
    options.skip_bad = skip;
    options.size_of = [](const fs::path&) { return face::PictureSize{100, 80}; };
    options.text.bytes = 1 << 16;
    options.most_points = 1 << 20;
    try {
      const face::Annotations read = face::read_annotations(path, options);
      for (const face::Annotation& face : read.faces)
        if (face.points.cols() != Index(read.ids.size())) std::abort();
      face::check_sense(read, std::vector<face::PictureSize>(read.faces.size(), {100, 80}));
    } catch (const Error&) {
    }
  }
}

void read(const fs::path& path) {
  const std::string name = path.filename().string(), ending = path.extension().string();
  if (name == "boxes.csv") {
    const face::BoxTable table = face::read_box_table(path);
    for (const std::string& detector : table.detectors) table.of(detector);
  } else if (name == "mirror.txt") {
    face::read_mirror(path);
  } else if (ending == ".obj" || name == "points.csv") {
    pose::read_object(path.string(), "");
    pose::read_object(path.string(), "a");
  } else if (ending == ".dat") {
    const experiments::NistProblem problem = experiments::read_nist(path);
    problem.rss(problem.certified);
  } else if (ending == ".mat") {
    experiments::read_mat_file(path);
  } else {
    read_landmarks(path);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& formats = fuzz::text_formats();
  const fs::path path = folder() / formats[data[0] % formats.size()].file;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) std::abort();
  std::fwrite(data + 1, 1, size - 1, file);
  std::fclose(file);
  try {
    read(path);
  } catch (const sdm::Error&) {
  }
  return 0;
}
