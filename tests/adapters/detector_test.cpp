#include "sdm/opencv/detector.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>

#include "sdm/face/data/boxes.h"
#include "sdm/opencv/image.h"
#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm::opencv {
namespace {

using io::expect_error;

TEST(Detector, FindsNothingInPicturesWithoutAFace) {
  const face::BoxDetector detector = make_detector("haar_alt2");
  for (const auto& [width, height] :
       {std::pair(640, 480), std::pair(40, 40), std::pair(5, 3), std::pair(10000, 2)})
    EXPECT_TRUE(detector(image::Image<std::uint8_t>(width, height, 128)).empty());
  EXPECT_TRUE(detector({}).empty());
}

TEST(Detector, TellsWhichOptionIsOutOfRange) {
  const auto fails = [](const DetectorOptions& options, const std::string& why) {
    expect_error([&] { make_detector("haar_alt2", options); }, why);
  };
  fails({.scale_step = 1}, "the scale step is 1");
  fails({.neighbours = -1}, "-1 neighbours");
  fails({.min_size = -1}, "the least size is -1 px");
  fails({.max_side = 0}, "the longest side is 0 px");
}

TEST(Detector, TellsWhatItCannotFind) {
  const TemporaryFolder folder;
  expect_error([] { make_detector("cnn"); }, "'cnn', expected haar_alt2, haar_default");
  expect_error([&] { make_detector("haar_alt2", {.folder = folder.path()}); },
               "haarcascade_frontalface_alt2.xml is not in " + folder.path().string());
  expect_error([&] { make_detector((folder / "none.xml").string()); }, "none.xml: not a detector");
  const auto text = folder.write("text.xml", "<a>");
  expect_error([&] { make_detector(text.string()); }, "text.xml: not a detector");
  expect_error([&] { make_detector((folder / "none.onnx").string()); }, "none.onnx: no such file");
  const auto network = folder.write("text.onnx", "no network");
  expect_error([&] { make_detector(network.string()); }, "text.onnx: not a YuNet network");
}

// The boxes that come with the data were found by the same cascade, so ours must be theirs up to
// the grouping of neighbours; and much the same where the picture is searched shrunk.
TEST(Detector, FindsTheFacesThatOpencvIsKnownToFind) {
  const std::filesystem::path folder = std::filesystem::path(SDM_SHARED_DATA) / "faces";
  if (!std::filesystem::exists(folder)) {
    std::puts("skipped: needs ../shared/data");
    GTEST_SKIP();
  }
  const face::BoxDetector detector = make_detector("haar_alt2");
  const face::BoxDetector bounded = make_detector("haar_alt2", {.max_side = 200});
  int faces = 0, found = 0, found_shrunk = 0;
  const auto same = [](const std::vector<face::Box>& boxes, const face::Box& known, float share) {
    for (const face::Box& box : boxes)
      if (std::abs(box.x + box.width / 2 - known.x - known.width / 2) < share * known.width &&
          std::abs(box.y + box.height / 2 - known.y - known.height / 2) < share * known.width &&
          std::abs(std::log(box.width / known.width)) < share)
        return true;
    return false;
  };
  for (const auto& [file, known] : face::read_boxes(folder / "lfpw_test_boxes.csv", "haar_alt2")) {
    if (known.empty() || ++faces > 25) continue;
    const image::Image<std::uint8_t> picture = read_grey(folder / file);
    found += same(detector(picture), known[0], 0.05F) ? 1 : 0;
    found_shrunk += same(bounded(picture), known[0], 0.15F) ? 1 : 0;
  }
  EXPECT_GE(found, 24);
  EXPECT_GE(found_shrunk, 22);
}

}  // namespace
}  // namespace sdm::opencv
