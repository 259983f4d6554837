#include "sdm/pose/estimator.h"

#include <gmock/gmock.h>

#include "sdm/base/error.h"
#include "sdm/pose/posit.h"
#include "sdm/pose/train/train_estimator.h"
#include "tests/every_target.h"
#include "tests/pose/samples.h"

namespace sdm::pose {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// A cube that is not centred on its origin: frames and origins must not be mixed up.
Points3 offset_cube() { return cube().colwise() + Eigen::Vector3d(20, -40, 30); }

const Estimator& narrow() {
  static const Estimator estimator = [] {
    TrainEstimatorOptions options;
    options.samples = 6000;
    options.threads = 1;
    return train_estimator(offset_cube(), options).estimator;
  }();
  return estimator;
}

const Estimator& wide() {
  static const Estimator estimator = [] {
    TrainEstimatorOptions options;
    options.range.rotation_degrees.setConstant(60);
    options.samples = 3000;
    options.stages = 5;
    options.threads = 1;
    return train_estimator(offset_cube(), options).estimator;
  }();
  return estimator;
}

struct Images {
  std::vector<Pose> poses;
  std::vector<Points2> images;
  Matrix<float> pixels;
};

Images draw(int count, double degrees, double sigma, unsigned seed,
            const Camera& camera = Camera()) {
  Images out;
  out.poses = test::random_poses(count, degrees, 400, seed);
  out.pixels.resize(16, count);
  std::mt19937 engine(seed);
  for (int i = 0; i < count; ++i) {
    const Points2 image = test::noisy_image(offset_cube(), out.poses[static_cast<std::size_t>(i)],
                                            camera, sigma, engine);
    out.pixels.col(i) = image.reshaped().cast<float>();
    out.images.push_back(out.pixels.col(i).cast<double>().reshaped(2, 8));
  }
  return out;
}

struct Batch {
  Matrix<float> poses;
  Vector<float> errors;
  Pose pose(Index i) const {
    return {Rotation(poses(0, i), poses(1, i), poses(2, i), poses(3, i)),
            poses.col(i).tail<3>().cast<double>()};
  }
};

Batch run(const Estimator& estimator, const Matrix<float>& pixels,
          const Estimator::BatchOptions& options = {}) {
  Batch out{Matrix<float>(7, pixels.cols()), Vector<float>(pixels.cols())};
  estimator.estimate_batch(pixels, options, out.poses, out.errors);
  return out;
}

TEST(Estimator, FindsPosesNearlyAsWellAsLeastSquares) {
  const Images test = draw(2000, 30, 2, 11);
  double sdm = 0, best = 0;
  for (std::size_t i = 0; i < test.poses.size(); ++i) {
    sdm += test::rotation_error(narrow().estimate(test.images[i]).pose, test.poses[i]);
    best += test::rotation_error(
        refine(offset_cube(), Camera(), test.images[i], test.poses[i], {10, 0}).pose,
        test.poses[i]);
  }
  EXPECT_LT(sdm, 1.1 * best);
}

TEST(Estimator, IsMoreAccurateThanPosit) {
  const Images test = draw(2000, 30, 2, 12);
  const Posit posit(offset_cube());
  double sdm_rotation = 0, posit_rotation = 0, sdm_translation = 0, posit_translation = 0;
  for (std::size_t i = 0; i < test.poses.size(); ++i) {
    const Pose ours = narrow().estimate(test.images[i]).pose;
    const Pose theirs = posit.estimate(normalise(Camera(), test.images[i]));
    sdm_rotation += test::rotation_error(ours, test.poses[i]);
    posit_rotation += test::rotation_error(theirs, test.poses[i]);
    sdm_translation += test::translation_error(ours, test.poses[i]);
    posit_translation += test::translation_error(theirs, test.poses[i]);
  }
  EXPECT_LT(sdm_rotation, posit_rotation);
  EXPECT_LT(sdm_translation, posit_translation);
}

TEST(Estimator, ThePolishReachesLeastSquares) {
  const Images test = draw(100, 30, 2, 13);
  for (std::size_t i = 0; i < test.poses.size(); ++i) {
    const Estimate found = narrow().estimate(test.images[i], RefineOptions{6, 0});
    const Estimate best = refine(offset_cube(), Camera(), test.images[i], test.poses[i], {10, 0});
    EXPECT_NEAR(found.reprojection_error, best.reprojection_error, 1e-6);
  }
}

TEST(Estimator, ThePartitionFindsWidePoses) {
  EXPECT_EQ(wide().cells().size(), 27u);
  const Images test = draw(1500, 60, 2, 14);
  for (std::size_t i = 0; i < test.poses.size(); ++i) {
    const Estimate found = wide().estimate(test.images[i], RefineOptions{6, 0});
    const Estimate best = refine(offset_cube(), Camera(), test.images[i], test.poses[i], {10, 0});
    EXPECT_NEAR(found.reprojection_error, best.reprojection_error, 1e-3);
  }
}

TEST(Estimator, TakesFactoredMapsInSomeOfItsCells) {
  std::vector<Estimator::Cell> cells = wide().cells();
  for (std::size_t c = 1; c < cells.size(); ++c)
    for (DescentMap<double>& map : cells[c].cascade.maps)
      map = DescentMap<double>(Matrix<double>::Identity(6, 6), map.matrix(), map.bias());
  const Estimator factored(wide().object(), wide().camera(), wide().range(), std::move(cells));
  for (const Points2& image : draw(50, 60, 2, 23).images)
    EXPECT_LT(test::rotation_error(factored.estimate(image).pose, wide().estimate(image).pose),
              1e-6);
}

// The batch in single precision against the plain double-precision call.

TEST(Batch, IsThePlainCall) {
  for (const int count : {1, 15, 67}) {
    const Images test = draw(count, 30, 2, 15);
    on_every_target([&] {
      const Batch plain = run(narrow(), test.pixels), polished = run(narrow(), test.pixels, {0, 4});
      for (Index i = 0; i < count; ++i) {
        const Points2& image = test.images[static_cast<std::size_t>(i)];
        const Estimate a = narrow().estimate(image);
        EXPECT_LT(test::rotation_error(plain.pose(i), a.pose), 2e-3);
        EXPECT_LT(test::translation_error(plain.pose(i), a.pose), 2e-2);
        EXPECT_NEAR(plain.errors[i], a.reprojection_error, 1e-3);
        const Estimate b = narrow().estimate(image, RefineOptions{4, 0});
        EXPECT_LT(test::rotation_error(polished.pose(i), b.pose), 2e-2);
        EXPECT_LT(test::translation_error(polished.pose(i), b.pose), 0.5);
        EXPECT_NEAR(polished.errors[i], b.reprojection_error, 1e-3);
      }
    });
  }
}

TEST(Batch, IsThePlainCallForAPartition) {
  const Images test = draw(200, 60, 2, 16);
  on_every_target([&] {
    const Batch batch = run(wide(), test.pixels, {0, 4});
    for (Index i = 0; i < 200; ++i) {
      const Estimate one =
          wide().estimate(test.images[static_cast<std::size_t>(i)], RefineOptions{4, 0});
      EXPECT_NEAR(batch.errors[i], one.reprojection_error, 1e-3);
      EXPECT_LT(test::rotation_error(batch.pose(i), one.pose), 2e-2);
    }
  });
}

TEST(Batch, ChoosesTheCellOfThePlainCall) {
  // Without a polish another cell is another pose. Where the two focal lengths differ much, so do
  // errors in pixels and in normalised coordinates.
  for (const Camera& camera : {Camera(), Camera{400, 2000, 320, 240}}) {
    const Estimator estimator = wide().with_camera(camera);
    const Images test = draw(200, 60, 2, 16, camera);
    on_every_target([&] {
      const Batch batch = run(estimator, test.pixels);
      for (Index i = 0; i < 200; ++i) {
        const Estimate one = estimator.estimate(test.images[static_cast<std::size_t>(i)]);
        EXPECT_LT(test::rotation_error(batch.pose(i), one.pose), 2e-2) << i;
      }
    });
  }
}

TEST(Batch, MissingPointsGoLikeInThePlainCall) {
  Images test = draw(40, 30, 2, 17);
  for (Index i = 0; i < 40; ++i) {
    test.pixels(2 * (i % 8), i) = nan;
    test.pixels(2 * ((i + 3) % 8) + 1, i) = nan;
  }
  on_every_target([&] {
    const Batch batch = run(narrow(), test.pixels, {0, 5});
    for (Index i = 0; i < 40; ++i) {
      const Points2 image = test.pixels.col(i).cast<double>().reshaped(2, 8);
      const Estimate one = narrow().estimate(image, RefineOptions{5, 0});
      EXPECT_EQ(one.points, 6);
      EXPECT_NEAR(batch.errors[i], one.reprojection_error, 1e-2);
    }
  });
}

TEST(Estimator, MissingPointsCostLittle) {
  const Images test = draw(300, 30, 2, 18);
  double worst = 0;
  for (std::size_t i = 0; i < test.poses.size(); ++i) {
    Points2 image = test.images[i];
    image.col(static_cast<Index>(i) % 8).setConstant(nan);
    image.col(static_cast<Index>(i + 3) % 8).setConstant(nan);
    const Estimate found = narrow().estimate(image, RefineOptions{8, 0});
    const Estimate best = refine(offset_cube(), Camera(), image, test.poses[i], {10, 0});
    worst = std::max(worst, found.reprojection_error - best.reprojection_error);
  }
  EXPECT_LT(worst, 1e-3);
}

TEST(Estimator, OnePointFarOffIsSetAside) {
  const Images test = draw(300, 25, 1, 19);
  int found = 0;
  for (std::size_t i = 0; i < test.poses.size(); ++i) {
    Points2 image = test.images[i];
    image.col(static_cast<Index>(i) % 8) += Eigen::Vector2d(60, i % 2 ? -50 : 50);
    const Estimate robust = narrow().estimate(image, RefineOptions{5, 5});
    found += test::rotation_error(robust.pose, test.poses[i]) < 3;
  }
  EXPECT_GE(found,
            294);  // an eighth of the points are wrong, in 98 of 100 images it does not matter
}

TEST(Estimator, TooFewPointsInABatchHaveNoAnswer) {
  Images test = draw(3, 20, 0, 20);
  test.pixels.col(1).head(10).setConstant(nan);
  const Batch batch = run(narrow(), test.pixels, {0, 2});
  EXPECT_TRUE(std::isnan(batch.errors[1]));
  EXPECT_LT(batch.errors[0], 0.1);
  EXPECT_LT(batch.errors[2], 0.1);
}

TEST(Estimator, PixelsFarOutsideTheRangeGiveAFiniteAnswer) {
  const Matrix<float> pixels = Matrix<float>::Random(16, 64) * 1e5f;
  const Batch batch = run(wide(), pixels, {0, 3});
  EXPECT_TRUE(batch.poses.allFinite());
}

TEST(Estimator, FewerStagesStopEarly) {
  const Images test = draw(500, 30, 2, 21);
  const Batch one = run(narrow(), test.pixels, {1, 0}), all = run(narrow(), test.pixels);
  const Batch ten = run(narrow(), test.pixels, {10, 0});
  EXPECT_GT(one.errors.mean(), 2 * all.errors.mean());
  EXPECT_EQ(ten.poses, all.poses);
}

TEST(Estimator, AnotherCameraSeesTheSamePose) {
  const Camera tele{2000, 2100, 300, 200};
  const Estimator estimator = narrow().with_camera(tele);
  const Pose pose = test::random_poses(1, 20, 300, 22).front();
  const Points2 image = project(offset_cube(), pose, tele);
  EXPECT_LT(test::rotation_error(estimator.estimate(image, RefineOptions{8, 0}).pose, pose), 1e-6);
  const Matrix<float> pixels = image.reshaped().cast<float>();
  EXPECT_LT(test::rotation_error(run(estimator, pixels, {0, 4}).pose(0), pose), 2e-2);
}

TEST(Estimator, WrongSizesAreRejected) {
  EXPECT_THAT([] { narrow().estimate(Points2::Zero(2, 7)); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("7 image points")));
  EXPECT_THAT([] { run(narrow(), Matrix<float>::Zero(14, 3)); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("14 rows, expected 16")));
  Matrix<float> poses(7, 2);
  Vector<float> errors(3);
  EXPECT_THROW(narrow().estimate_batch(Matrix<float>::Zero(16, 3), {}, poses, errors), Error);
  EXPECT_THROW(run(narrow(), Matrix<float>::Zero(16, 3), {-1, 0}), Error);
  EXPECT_NO_THROW(run(narrow(), Matrix<float>(16, 0)));
  EXPECT_THROW(Estimator(cube(), Camera(), PoseRange(), {}), Error);
  EXPECT_THROW(Estimator(cube().leftCols(6), Camera(), PoseRange(), narrow().cells()), Error);
}

}  // namespace
}  // namespace sdm::pose
