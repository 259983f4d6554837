#include "sdm/pose/camera.h"

#include <gmock/gmock.h>

#include <limits>

#include "sdm/base/error.h"

namespace sdm::pose {
namespace {

TEST(Camera, NormalisesByTheFormulaOfThePaper) {
  const Camera camera{800, 400, 320, 240};
  Points2 pixels(2, 2);
  pixels << 320, 1120, 240, 40;
  Points2 expected(2, 2);
  expected << 0, 1, 0, -0.5;
  EXPECT_TRUE(normalise(camera, pixels).isApprox(expected, 1e-15));
}

TEST(Camera, GoesBackToPixels) {
  const Camera camera{812.5, 790, 333, 251};
  const Points2 pixels = Points2::Random(2, 9) * 500;
  EXPECT_TRUE(to_pixels(camera, normalise(camera, pixels)).isApprox(pixels, 1e-12));
}

TEST(Camera, RejectsAFocalLengthThatIsNotPositive) {
  for (const double focal : {0.0, -3.0, std::numeric_limits<double>::quiet_NaN()}) {
    Camera camera;
    camera.fy = focal;
    EXPECT_THROW(camera.validate(), Error);
  }
  Camera backwards;
  backwards.fx = -3;
  EXPECT_THAT([&] { backwards.validate(); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("focal length is -3")));
}

}  // namespace
}  // namespace sdm::pose
