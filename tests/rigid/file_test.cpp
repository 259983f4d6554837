#include <gmock/gmock.h>

#include "sdm/base/error.h"
#include "sdm/rigid/tracker.h"
#include "sdm/rigid/train/train_tracker.h"
#include "tests/rigid/texture.h"
#include "tests/temporary_folder.h"

namespace sdm::rigid {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Tracker small_tracker() {
  TrainTrackerOptions options;
  options.motion = Motion::homography;
  options.samples = 200;
  return train_tracker(frame_of(centred()), middle_box(), options).tracker;
}

TEST(ATrackerFile, GivesATrackerThatFollowsBitForBit) {
  Tracker tracker = small_tracker();
  const TemporaryFolder folder;
  const auto path = folder / "tracker.sdm";
  tracker.model().save(path);
  Tracker loaded(TrackerModel::load(path));
  EXPECT_EQ(loaded.warp(), tracker.warp());
  EXPECT_EQ(loaded.model().search, tracker.model().search);
  Warp truth = centred();
  truth.topRightCorner<2, 1>() += Eigen::Vector2d(4, -3);
  const auto frame = frame_of(truth);
  const Track a = tracker.update(frame), b = loaded.update(frame);
  EXPECT_EQ(a.warp, b.warp);
  EXPECT_EQ(a.difference, b.difference);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.lost, b.lost);
}

TEST(ATrackerFile, OfAnotherKindOrWithPartsThatDoNotFitIsRefused) {
  const io::Model model = small_tracker().model().to_model();
  const auto refuse = [&](const char* part, const char* other, const char* reason) {
    io::Model changed = model;
    const std::size_t at = changed.header.find(part);
    ASSERT_NE(at, std::string::npos) << part << " in " << changed.header;
    changed.header.replace(at, std::string(part).size(), other);
    EXPECT_THAT([&] { TrackerModel::from_model(changed); },
                ThrowsMessage<Error>(HasSubstr(reason)));
  };
  refuse("\"homography\"", "\"rubber\"", "rubber");
  refuse("\"homography\"", "\"affine\"", "does not fit its canvas or motion");
  refuse("\"cell\":5", "\"cell\":0", "cell");
  refuse("\"width\":35", "\"width\":2000000000", "sensible size");
  refuse("\"unit\":2.0", "\"unit\":-2.0", "sensible size");
  refuse("\"l2\"", "\"l1\"", "normalisation");
  refuse("\"stages\"", "\"steps\"", "header");
  refuse("[0,0,1,1]", "[0,0,1,7]", "a canvas that is not there");
  // A file tells l2 alone, so a tracker of another normalisation would come back as another one.
  TrackerModel other = TrackerModel::from_model(model);
  other.canvases.front().hog.normalisation = image::Normalisation::l2_hys;
  EXPECT_THAT([&] { Tracker{other}; }, ThrowsMessage<Error>(HasSubstr("normalisation")));
  io::Model changed = model;
  changed.kind = "pose";
  EXPECT_THAT([&] { TrackerModel::from_model(changed); }, ThrowsMessage<Error>(HasSubstr("rigid")));
  for (const char* part : {"pixels", "blurs", "score"}) {
    changed = model;
    changed.tensors.erase(part);
    EXPECT_THAT([&] { TrackerModel::from_model(changed); }, ThrowsMessage<Error>(HasSubstr(part)));
  }
  other = TrackerModel::from_model(model);
  other.pixels.slope_u.conservativeResize(10);
  EXPECT_THAT([&] { Tracker{other}; }, ThrowsMessage<Error>(HasSubstr("pixels")));
  changed = model;
  changed.tensors.erase("template1");
  EXPECT_THAT([&] { TrackerModel::from_model(changed); },
              ThrowsMessage<Error>(HasSubstr("template1")));
}

}  // namespace
}  // namespace sdm::rigid
