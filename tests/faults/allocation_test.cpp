// Every allocation fails once: what was being done throws, nothing ends the program, and files are
// the old or the new ones.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <utility>

#include "sdm/base/error.h"
#include "sdm/descent/learned.h"
#include "sdm/descent/online.h"
#include "sdm/descent/partition.h"
#include "sdm/face/adaptation.h"
#include "sdm/face/adapter.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/detector.h"
#include "sdm/io/file.h"
#include "sdm/pose/estimator.h"
#include "sdm/rigid/tracker.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/text_formats.h"
#include "tests/sanitized.h"
#include "tests/temporary_folder.h"

namespace {
// Of this thread alone; below 1: none fails.
thread_local long allocations_left = 0;
bool no_memory() { return allocations_left > 0 && --allocations_left == 0; }
}  // namespace

#if !SDM_SANITIZED
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t size) noexcept {
  if (!no_memory()) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  if (!no_memory()) return __libc_calloc(count, size);
  errno = ENOMEM;
  return nullptr;
}
void* realloc(void* old, std::size_t size) noexcept {
  if (!no_memory()) return __libc_realloc(old, size);
  errno = ENOMEM;
  return nullptr;
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (!no_memory()) return __libc_memalign(alignment, size);
  errno = ENOMEM;
  return nullptr;
}
}
#endif

namespace sdm {
namespace {

namespace fs = std::filesystem;

// Gives how many allocations there were.
template <class F>
long fail_each(F&& f) {
  for (long n = 1;; ++n) {
    allocations_left = n;
    try {
      f();
    } catch (const std::bad_alloc&) {
    } catch (const Error&) {  // what a stream or the file system made of it
    } catch (const fs::filesystem_error&) {
    }
    const bool failed = allocations_left == 0;
    allocations_left = 0;
    if (!failed) return n - 1;
  }
}

class NoMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (SDM_SANITIZED) GTEST_SKIP() << "a sanitizer has its own malloc";
  }
  io::Model model(const std::string& name) const {
    for (const auto& [key, model] : models_)
      if (key == name) return model;
    throw Error(name);
  }
  const std::vector<std::pair<std::string, io::Model>> models_ = fuzz::small_models();
  TemporaryFolder folder_;
};

TEST_F(NoMemory, WhileAModelIsSavedLeavesTheOldFileOrTheNew) {
  const fs::path path = folder_ / "a.sdm";
  const io::Model before = model("cascade"), after = model("face");
  const auto old = io::to_bytes(before), whole = io::to_bytes(after);
  io::write(path, before);
  const long count = fail_each([&] { io::write(path, after); });
  EXPECT_GT(count, 10);
  for (long n = 1; n <= count; ++n) {
    io::write(path, before);
    allocations_left = n;
    try {
      io::write(path, after);
    } catch (const std::exception&) {
    }
    allocations_left = 0;
    const std::string text = io::read_text(path);
    const auto bytes = std::as_bytes(std::span(text));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), old.begin(), old.end()) ||
                std::equal(bytes.begin(), bytes.end(), whole.begin(), whole.end()))
        << n;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(NoMemory, WhileModelsAreLoadedEndsInAnException) {
  for (const auto& [name, model] : models_) {
    const fs::path path = folder_ / (name + ".sdm");
    io::write(path, model);
    EXPECT_GT(fail_each([&] { io::read(path); }), 5) << name;
  }
  EXPECT_GT(fail_each([&] { face::Model::load(folder_ / "face.sdm"); }), 5);
  EXPECT_GT(fail_each([&] { face::Model::load(folder_ / "face-on-base.sdm"); }), 5);
  EXPECT_GT(fail_each([&] { face::DetectorModel::load(folder_ / "detector.sdm"); }), 5);
  EXPECT_GT(fail_each([&] { face::Adaptation::load(folder_ / "adaptation.sdm"); }), 5);
  EXPECT_GT(fail_each([&] { pose::Estimator::load(folder_ / "pose.sdm"); }), 5);
  EXPECT_GT(fail_each([&] { rigid::TrackerModel::load(folder_ / "rigid.sdm"); }), 5);
  EXPECT_GT(fail_each([&] { Cascade<double>::load(folder_ / "cascade.sdm"); }), 5);
  EXPECT_GT(fail_each([&] { Partition<double>::load(folder_ / "partition.sdm"); }), 5);
  const io::Model learned = model("learned");
  EXPECT_GT(fail_each([&] { LearnedModel::from_model(learned); }), 5);
}

TEST_F(NoMemory, WhileModelsAreMadeIntoFilesEndsInAnException) {
  const auto fails = [&](const auto& made) {
    EXPECT_GT(fail_each([&] { made.save(folder_ / "made.sdm"); }), 5);
  };
  fails(face::Model::from_model(model("face")));
  fails(face::Model::from_model(model("face-on-base")));
  fails(face::Adaptation::from_model(model("adaptation")));
  fails(face::DetectorModel::from_model(model("detector")));
  fails(pose::Estimator::from_model(model("pose")));
  fails(rigid::TrackerModel::from_model(model("rigid")));
  fails(Cascade<double>::from_model(model("cascade")));
  fails(Partition<double>::from_model(model("partition")));
  fails(OnlineCascade<double>::from_model(model("online")));
  const LearnedModel learned = LearnedModel::from_model(model("learned"));
  EXPECT_GT(fail_each([&] { learned.to_model(); }), 5);
}

TEST_F(NoMemory, WhileFacesAreFoundEndsInAnException) {
  const image::Image<std::uint8_t> picture = fuzz::small_picture();
  const face::Model face = fuzz::small_face();
  const auto detector = face::DetectorModel::from_model(model("detector"));
  face::DetectorOptions options;
  options.smallest = 24;
  options.min_score = 0;
  EXPECT_GT(fail_each([&] { face::Detector(detector, face, options).detect(picture); }), 5);
  EXPECT_GT(fail_each([&] { face::Aligner(face).align(picture, {10, 10, 40, 40}); }), 5);
  EXPECT_GT(fail_each([&] {
              rigid::Tracker(rigid::TrackerModel::from_model(model("rigid"))).update(picture);
            }),
            10);
}

TEST_F(NoMemory, WhileTrainingEndsInAnException) {
  const fuzz::SmallTraining training("");
  EXPECT_GT(fail_each([&] { training.problem.train(training.options); }), 50);
  const fuzz::SmallTraining kept((folder_ / "checkpoint.sdm").string());
  EXPECT_GT(fail_each([&] { kept.problem.train(kept.options); }), 50);
}

// It is learned or it is not; half of a sample would spoil the maps.
TEST_F(NoMemory, WhileASampleIsLearnedEndsInAnExceptionAndLeavesTheMaps) {
  const auto problem = fuzz::SmallTraining("").problem;
  auto online = OnlineCascade<double>::from_model(model("online"));
  auto before = io::to_bytes(online.to_model());
  auto learned = online;
  learned.update(problem, 0, problem.starts.col(0), problem.targets.col(0));
  EXPECT_NE(io::to_bytes(learned.to_model()), before);
  EXPECT_GT(fail_each([&] {
              try {
                online.update(problem, 0, problem.starts.col(0), problem.targets.col(0));
              } catch (const std::bad_alloc&) {
                allocations_left = 0;
                EXPECT_EQ(io::to_bytes(online.to_model()), before);
                throw;
              }
            }),
            5);
  const image::Image<std::uint8_t> picture = fuzz::small_picture();
  const face::Shape truth = fuzz::small_truth();
  const auto state = face::Adaptation::from_model(model("adaptation"));
  face::Adapter adapter(fuzz::small_face(), state);
  face::AdapterOptions options;
  options.starts = 2;
  before = io::to_bytes(adapter.state().to_model());
  EXPECT_GT(fail_each([&] {
              try {
                adapter.update(picture, truth, options);
              } catch (const std::bad_alloc&) {
                allocations_left = 0;
                EXPECT_EQ(io::to_bytes(adapter.state().to_model()), before);
                throw;
              }
            }),
            20);
}

TEST_F(NoMemory, WhileAnnotationsAreReadEndsInAnException) {
  for (const fuzz::TextFormat& format : fuzz::text_formats()) {
    const fs::path path = folder_.write(format.file, format.examples.front());
    const std::string ending = path.extension().string();
    if (format.file == "boxes.csv" || ending == ".mat" || ending == ".obj" || ending == ".dat" ||
        ending == ".npy" || ending == ".json" || ending == ".jsonl" ||
        format.file == "points.csv" || format.file == "mirror.txt")
      continue;
    face::ReadOptions options;
    options.size_of = [](const fs::path&) { return face::PictureSize{100, 80}; };
    EXPECT_GT(fail_each([&] { face::read_annotations(path, options); }), 5) << format.file;
  }
}

}  // namespace
}  // namespace sdm
