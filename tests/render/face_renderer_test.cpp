#include "sdm/render/face_renderer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/every_target.h"
#include "tests/io/expect_error.h"
#include "tests/render/small_head.h"

namespace sdm::render {
namespace {

RenderOptions small() {
  RenderOptions options;
  options.size = 60;
  return options;
}

bool same(const RenderedFace& a, const RenderedFace& b) {
  const image::ByteView p = a.picture, q = b.picture;
  if (p.width != q.width || p.height != q.height || a.points != b.points || a.visible != b.visible)
    return false;
  return std::equal(p.data, p.data + p.stride * p.height, q.data);
}

TEST(FaceRenderer, DrawsTheSameFaceByItsNumberHoweverManyThreadsThereAre) {
  ThreadPool one(1), three(3);
  const FaceRenderer alone(make_small_head(), small(), one),
      together(make_small_head(), small(), three);
  std::vector<RenderedFace> faces(6);
  three.run(6, [&](Index i, int) {
    faces[static_cast<std::size_t>(i)] = together.draw(static_cast<std::uint64_t>(i));
  });
  for (int i = 5; i >= 0; --i)
    EXPECT_TRUE(same(faces[static_cast<std::size_t>(i)], alone.draw(static_cast<std::uint64_t>(i))))
        << i;
  EXPECT_FALSE(same(faces[0], faces[1]));
}

TEST(FaceRenderer, DrawsTheSameFaceWithEveryKindOfVectors) {
  ThreadPool pool(1);
  const RenderedFace first = FaceRenderer(make_small_head(), small(), pool).draw(3);
  on_every_target(
      [&] { EXPECT_TRUE(same(first, FaceRenderer(make_small_head(), small(), pool).draw(3))); });
}

TEST(FaceRenderer, AnotherSeedIsAnotherFace) {
  ThreadPool pool(2);
  RenderOptions options = small();
  const FaceRenderer first(make_small_head(), options, pool);
  options.seed = 2;
  const FaceRenderer second(make_small_head(), options, pool);
  EXPECT_FALSE(same(first.draw(0), second.draw(0)));
}

TEST(FaceRenderer, LeavingSomethingOutMovesNoPoint) {
  ThreadPool pool(2);
  RenderOptions options = small();
  const FaceRenderer whole(make_small_head(), options, pool);
  options.lamp = options.hair = options.glasses = options.camera = options.clothes = false;
  options.occluders = options.hats = false;
  const FaceRenderer bare(make_small_head(), options, pool);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(whole.draw(i).points, bare.draw(i).points) << i;
}

TEST(FaceRenderer, AHeadThatLooksAheadShowsItsWholeFaceAndATurnedOneDoesNot) {
  ThreadPool pool(2);
  RenderOptions options = small();
  options.hair = options.glasses = options.hats = options.clothes = options.occluders = false;
  options.yaw = 80;
  const FaceRenderer renderer(make_small_head(), options, pool);
  int turned = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const RenderedFace face = renderer.draw(i);
    const auto seen = [&](int from, int to) {
      return std::count(face.visible.begin() + from, face.visible.begin() + to, true);
    };
    if (std::abs(face.yaw) < 15) {
      EXPECT_EQ(seen(27, 36), 9) << i;
    }
    if (std::abs(face.yaw) > 55) {
      ++turned;
      // Turned to the right of the picture, its points there go behind the head.
      const auto left = seen(0, 8) + seen(17, 22) + seen(36, 42);
      const auto right = seen(9, 17) + seen(22, 27) + seen(42, 48);
      EXPECT_LT(face.yaw > 0 ? right : left, face.yaw > 0 ? left : right) << i << ", " << face.yaw;
    }
  }
  EXPECT_GT(turned, 0);
}

TEST(FaceRenderer, PointsAndPupilsAndTheBoxLieOnTheFace) {
  ThreadPool pool(2);
  const FaceRenderer renderer(make_small_head(), small(), pool);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const RenderedFace face = renderer.draw(i);
    EXPECT_TRUE((face.points.array() >= 0).all()) << i;
    EXPECT_TRUE((face.points.row(0).array() < static_cast<float>(face.picture.width())).all()) << i;
    EXPECT_TRUE((face.points.row(1).array() < static_cast<float>(face.picture.height())).all())
        << i;
    const Eigen::Vector2f middle = face.points.rowwise().mean();
    const Eigen::Vector2f off = middle - face.box_corner;
    EXPECT_TRUE(off.minCoeff() > 0 && off.maxCoeff() < face.box_size) << i;
    const Eigen::Vector2f left_eye = face.points.middleCols<6>(36).rowwise().mean();
    EXPECT_LT((face.pupils.col(0) - left_eye).norm(), 0.3F * face.box_size) << i;
  }
}

TEST(FaceRenderer, RefusesOptionsAndHeadsThatMakeNoSense) {
  ThreadPool pool(1);
  RenderOptions options;
  options.size = 3;
  io::expect_error([&] { FaceRenderer(make_small_head(), options, pool); }, "faces of 3 px");
  options = {};
  options.yaw = 120;
  io::expect_error([&] { FaceRenderer(make_small_head(), options, pool); }, "a yaw of 120");
  HeadModel blind = make_small_head();
  std::replace(blind.parts.begin(), blind.parts.end(), Part::eye, Part::skin);
  io::expect_error([&] { FaceRenderer(blind, {}, pool); }, "no eyes");
}

TEST(FaceRenderer, DrawsPicturesWithoutAFace) {
  ThreadPool pool(1);
  const FaceRenderer renderer(make_small_head(), small(), pool);
  const auto empty = renderer.draw_background(64, 48, 3),
             other = renderer.draw_background(64, 48, 4);
  EXPECT_EQ(empty.width(), 64);
  EXPECT_EQ(empty.height(), 48);
  const image::ByteView a = empty, b = other;
  EXPECT_FALSE(std::equal(a.data, a.data + 64 * 48, b.data));
}

}  // namespace
}  // namespace sdm::render
