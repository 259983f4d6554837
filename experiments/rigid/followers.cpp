#include "experiments/rigid/followers.h"

#include <fmt/format.h>

#include <limits>

#include "sdm/base/error.h"
#include "sdm/rigid/lucas_kanade.h"
#include "sdm/rigid/train/train_tracker.h"

#ifdef SDM_HAVE_OPENCV_VIDEO
#include <opencv2/video/tracking.hpp>

#include "sdm/opencv/image.h"
#endif

namespace sdm::experiments {
namespace {

using rigid::Quad;
using rigid::Warp;

class SdmFollower final : public Follower {
 public:
  SdmFollower(image::ByteView frame, const Quad& region, const rigid::TrainTrackerOptions& options)
      : tracker_(rigid::train_tracker(frame, region, options).tracker) {}
  // Whether it is lost is asked outside, by one rule for all.
  Warp update(image::ByteView frame) override {
    const rigid::Track track = tracker_.align(frame, tracker_.warp());
    tracker_.restart(track.warp);
    score_ = track.score;
    return track.warp;
  }
  void restart(const Warp& warp) override { tracker_.restart(warp); }
  double score() const override { return score_; }

 private:
  rigid::Tracker tracker_;
  double score_ = 0;
};

class LucasKanadeFollower final : public Follower {
 public:
  LucasKanadeFollower(image::ByteView frame, const Quad& region,
                      const rigid::LucasKanadeOptions& options)
      : tracker_(frame, region, options) {}
  Warp update(image::ByteView frame) override { return tracker_.update(frame); }
  void restart(const Warp& warp) override { tracker_.restart(warp); }

 private:
  rigid::LucasKanade tracker_;
};

#ifdef SDM_HAVE_OPENCV_VIDEO
/// OpenCV's enhanced correlation coefficient on the region of 260 px around the last estimate.
class EccFollower final : public Follower {
 public:
  EccFollower(image::ByteView frame, const Quad& region, const FollowerOptions& options)
      : options_(options), shape_(rigid::shape_of(region)), warp_(warp_to(shape_, region)) {
    canvas_ = rigid::make_canvas(shape_, int(rigid::kTemplateSide), {});
    target_.create(canvas_.height, canvas_.width, CV_32F);
    rigid::sample(frame, warp_, canvas_,
                  {target_.ptr<float>(), target_.cols, target_.rows, target_.cols});
    target_.convertTo(target_, CV_8U);
  }

  Warp update(image::ByteView frame) override {
    if (!warp_.allFinite()) return warp_;
    const Quad corners = shape_.corners(warp_);
    const cv::Mat whole = opencv::mat(frame);
    const double margin = 80;
    const cv::Point low(int(corners.row(0).minCoeff() - margin),
                        int(corners.row(1).minCoeff() - margin));
    const cv::Point high(int(corners.row(0).maxCoeff() + margin),
                         int(corners.row(1).maxCoeff() + margin));
    const cv::Rect part = cv::Rect(low, high) & cv::Rect(0, 0, frame.width, frame.height);
    Warp shift = Warp::Identity();
    shift.topRightCorner<2, 1>() << -part.x, -part.y;
    const Warp map = rigid::compose(shift, rigid::compose(warp_, canvas_.to_template()));
    const bool affine = options_.motion == rigid::Motion::affine;
    cv::Mat matrix(affine ? 2 : 3, 3, CV_32F);
    for (int r = 0; r < matrix.rows; ++r)
      for (int c = 0; c < 3; ++c) matrix.at<float>(r, c) = float(map(r, c));
    try {
      if (part.area() == 0) throw cv::Exception();
      cv::findTransformECC(
          target_, whole(part), matrix, affine ? cv::MOTION_AFFINE : cv::MOTION_HOMOGRAPHY,
          {cv::TermCriteria::COUNT | cv::TermCriteria::EPS, options_.iterations, -1}, cv::noArray(),
          5);
    } catch (const cv::Exception&) {  // it did not converge
      return warp_ = Warp::Constant(std::numeric_limits<double>::quiet_NaN());
    }
    Warp found = Warp::Identity();
    for (int r = 0; r < matrix.rows; ++r)
      for (int c = 0; c < 3; ++c) found(r, c) = double(matrix.at<float>(r, c));
    return warp_ = rigid::compose(rigid::inverse(shift),
                                  rigid::compose(found, rigid::inverse(canvas_.to_template())));
  }
  void restart(const Warp& warp) override { warp_ = warp; }

 private:
  FollowerOptions options_;
  rigid::TemplateShape shape_;
  rigid::Canvas canvas_;
  Warp warp_;
  cv::Mat target_;
};
#endif

}  // namespace

const std::vector<std::string>& follower_names() {
  static const std::vector<std::string> names = {
      "sdm", "sdm_paper", "lk_forward_additive", "lk_inverse_compositional",
#ifdef SDM_HAVE_OPENCV_VIDEO
      "ecc",
#endif
  };
  return names;
}

std::unique_ptr<Follower> make_follower(const std::string& name, image::ByteView frame,
                                        const Quad& region, const FollowerOptions& options) {
  if (name == "sdm" || name == "sdm_paper") {
    rigid::TrainTrackerOptions training =
        name == "sdm" ? rigid::TrainTrackerOptions() : rigid::TrainTrackerOptions::paper();
    training.motion = options.motion;
    training.seed = options.seed;
    training.threads = options.threads;
    return std::make_unique<SdmFollower>(frame, region, training);
  }
#ifdef SDM_HAVE_OPENCV_VIDEO
  if (name == "ecc") {
    cv::setNumThreads(1);
    return std::make_unique<EccFollower>(frame, region, options);
  }
#endif
  rigid::LucasKanadeOptions baseline;
  baseline.motion = options.motion;
  baseline.iterations = options.iterations;
  if (name == "lk_inverse_compositional") {
    baseline.kind = rigid::LucasKanadeKind::inverse_compositional;
  } else if (name != "lk_forward_additive") {
    throw Error(fmt::format("there is no tracking method \"{}\"", name));
  }
  return std::make_unique<LucasKanadeFollower>(frame, region, baseline);
}

}  // namespace sdm::experiments
