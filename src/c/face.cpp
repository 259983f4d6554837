#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "c/head_pose.h"
#include "c/model.h"
#include "c/picture.h"
#include "sdm/face/adapter.h"
#include "sdm/face/aligner.h"
#include "sdm/face/detector.h"
#include "sdm/face/tracker.h"

namespace sdm::c {
namespace {

face::Box box_of(const float* box) { return {box[0], box[1], box[2], box[3]}; }

void set_box(sdm_face& out, const face::Box& box) {
  out.box[0] = box.x;
  out.box[1] = box.y;
  out.box[2] = box.width;
  out.box[3] = box.height;
}

void set_points(sdm_face& out, const face::Shape& points, const Vector<float>& visible) {
  out.points = static_cast<std::int32_t>(points.cols());
  out.xy = points.data();
  out.visible = visible.size() > 0 ? visible.data() : nullptr;
}

/// The box around its points, for a face that nobody gave one.
void set_box_around(sdm_face& out, const face::Shape& points) {
  const Eigen::AlignedBox2f box = face::bounds(points);
  if (!box.isEmpty())
    set_box(out, {box.min().x(), box.min().y(), box.sizes().x(), box.sizes().y()});
}

void set_pose(sdm_face& out, const std::optional<pose::HeadPose>& pose) {
  out.has_pose = pose ? 1 : 0;
  if (pose) out.pose = head_pose_of(*pose);
}

face::DetectorOptions detection_of(const sdm_detector_options* given) {
  const sdm_detector_options o = options_of(given, sdm_detector_options_init);
  face::DetectorOptions options;
  if (o.smallest != 0) options.smallest = o.smallest;
  options.largest = o.largest;
  options.min_score = o.min_score;
  options.threshold = o.threshold;
  options.region = box_of(o.region);
  options.most = o.most;
  options.candidates = o.candidates;
  options.max_side = o.max_side;
  options.doubled = o.doubled != 0;
  options.validate();
  return options;
}

std::shared_ptr<const face::DetectorModel> windows_of(const sdm_model* model) {
  return content_of<face::DetectorModel>(model, "the detector", "'detector'");
}

}  // namespace
}  // namespace sdm::c

using sdm::c::guarded;
using sdm::c::options_of;
using sdm::c::require;

struct sdm_aligner {
  explicit sdm_aligner(std::shared_ptr<const sdm::face::Model> of)
      : model(std::move(of)), aligner(*model), head(sdm::face::head_of(*model)) {}

  std::shared_ptr<const sdm::face::Model> model;
  sdm::face::Aligner aligner;
  std::optional<sdm::pose::HeadPoseEstimator> head;
  sdm::c::Picture picture;
};

struct sdm_detector {
  sdm_detector(std::shared_ptr<const sdm::face::DetectorModel> windows_model,
               std::shared_ptr<const sdm::face::Model> verifier_model,
               std::shared_ptr<const sdm::face::Model> landmarks_model,
               const sdm::face::DetectorOptions& options)
      : windows(std::move(windows_model)),
        verifier(std::move(verifier_model)),
        detector(*windows, *verifier, options),
        landmarks(landmarks_model ? std::move(landmarks_model) : verifier) {}

  /// A face as it is told, with memory of its own.
  struct Found {
    sdm::face::Shape points;
    sdm::Vector<float> visible;
    sdm::face::Similarity place;
  };

  std::shared_ptr<const sdm::face::DetectorModel> windows;
  std::shared_ptr<const sdm::face::Model> verifier;
  sdm::face::Detector detector;
  sdm_aligner landmarks;
  std::vector<Found> found;
  std::vector<sdm_face> faces;
};

struct sdm_tracker {
  sdm_tracker(std::shared_ptr<const sdm::face::Model> landmarks_model,
              std::shared_ptr<const sdm::face::DetectorModel> windows_model,
              std::shared_ptr<const sdm::face::Model> verifier_model,
              const sdm::face::DetectorOptions& detection, const sdm::face::TrackerOptions& options)
      : landmarks(std::move(landmarks_model)),
        windows(std::move(windows_model)),
        verifier(std::move(verifier_model)),
        tracker(*landmarks, sdm::face::Detector(*windows, *verifier, detection), options) {}

  std::shared_ptr<const sdm::face::Model> landmarks;
  std::shared_ptr<const sdm::face::DetectorModel> windows;
  std::shared_ptr<const sdm::face::Model> verifier;
  sdm::face::Tracker tracker;
  sdm::c::Picture picture;
  std::vector<sdm_face> faces;
};

struct sdm_adapter {
  sdm::face::Adapter adapter;
  sdm::c::Picture picture;
};

sdm_status sdm_face_points(const sdm_model* model, int32_t* points) {
  return guarded([&] {
    const auto face = sdm::c::face_of(model, "the model");
    require(points, "points");
    *points = static_cast<int32_t>(face->points());
  });
}

sdm_status sdm_face_mean(const sdm_model* model, float* xy) {
  return guarded([&] {
    const auto face = sdm::c::face_of(model, "the model");
    require(xy, "xy");
    Eigen::Map<sdm::face::Shape>(xy, 2, face->points()) = face->mean;
  });
}

sdm_status sdm_aligner_create(const sdm_model* model, sdm_aligner** aligner) {
  return guarded([&] {
    auto face = sdm::c::face_of(model, "the model");
    require(aligner, "aligner");
    *aligner = new sdm_aligner(std::move(face));
  });
}

void sdm_aligner_free(sdm_aligner* aligner) { delete aligner; }

sdm_status sdm_aligner_align(sdm_aligner* aligner, const sdm_image* image, const float box[4],
                             const char* detector, sdm_face* face) {
  return guarded([&] {
    require(aligner, "aligner");
    require(box, "box");
    require(face, "face");
    const auto& convention = aligner->model->convention(detector == nullptr ? "" : detector);
    const sdm::face::Alignment& fit =
        aligner->aligner.align(aligner->picture.grey(image), sdm::c::box_of(box), convention);
    sdm_face out{};
    out.detected = 1;
    out.score = fit.score;
    sdm::c::set_points(out, fit.points, fit.visible);
    sdm::c::set_box_around(out, fit.points);
    sdm::c::set_pose(out, sdm::face::head_pose(aligner->head, fit.points, fit.visible));
    *face = out;
  });
}

void sdm_detector_options_init(sdm_detector_options* options) {
  const sdm::face::DetectorOptions defaults;
  *options = {};
  options->size = sizeof(*options);
  options->largest = defaults.largest;
  options->min_score = defaults.min_score;
  options->threshold = defaults.threshold;
  options->most = defaults.most;
  options->candidates = defaults.candidates;
  options->max_side = defaults.max_side;
  options->doubled = defaults.doubled ? 1 : 0;
}

sdm_status sdm_detector_create(const sdm_model* windows, const sdm_model* verifier,
                               const sdm_model* landmarks, const sdm_detector_options* options,
                               sdm_detector** detector) {
  return guarded([&] {
    auto scanning = sdm::c::windows_of(windows);
    auto verifying = sdm::c::face_of(verifier, "the verifier");
    std::shared_ptr<const sdm::face::Model> fitting;
    if (landmarks != nullptr) fitting = sdm::c::face_of(landmarks, "the landmarks");
    require(detector, "detector");
    *detector = new sdm_detector(std::move(scanning), std::move(verifying), std::move(fitting),
                                 sdm::c::detection_of(options));
  });
}

void sdm_detector_free(sdm_detector* detector) { delete detector; }

sdm_status sdm_detector_detect(sdm_detector* detector, const sdm_image* image,
                               const sdm_face** faces, int32_t* count) {
  return guarded([&] {
    require(detector, "detector");
    require(faces, "faces");
    require(count, "count");
    sdm_aligner& landmarks = detector->landmarks;
    const sdm::image::ByteView grey = landmarks.picture.grey(image);
    const auto candidates = detector->detector.detect(grey);
    detector->faces.clear();
    if (detector->found.size() < candidates.size()) detector->found.resize(candidates.size());
    for (const sdm::face::DetectedFace& candidate : candidates) {
      const sdm::face::Alignment& fit = landmarks.aligner.align_from(grey, candidate.place);
      if (!(fit.score >= detector->detector.options().min_score)) continue;
      const auto place = sdm::face::fit_similarity(landmarks.model->mean, fit.points);
      // What ends on the face of a candidate before it is that face.
      std::size_t at = 0;
      while (at < detector->faces.size() && !sdm::face::same_face(detector->found[at].place, place))
        ++at;
      if (at == detector->faces.size())
        detector->faces.emplace_back();
      else if (detector->faces[at].score >= fit.score)
        continue;
      sdm_detector::Found& found = detector->found[at];
      found.points = fit.points;
      found.visible = fit.visible;
      found.place = place;
      sdm_face& out = detector->faces[at];
      out = {};
      out.detected = 1;
      out.score = fit.score;
      out.roll = static_cast<float>(candidate.roll * 180 / std::numbers::pi);
      sdm::c::set_box(out, candidate.box);
      sdm::c::set_points(out, found.points, found.visible);
      sdm::c::set_pose(out, sdm::face::head_pose(landmarks.head, fit.points, fit.visible));
    }
    *faces = detector->faces.data();
    *count = static_cast<int32_t>(detector->faces.size());
  });
}

void sdm_tracker_options_init(sdm_tracker_options* options) {
  const sdm::face::TrackerOptions defaults;
  *options = {};
  options->size = sizeof(*options);
  options->faces = defaults.faces;
  options->threshold = defaults.threshold;
  options->search_every = defaults.search_every;
  options->memory = defaults.memory;
  options->smooth = defaults.smooth ? 1 : 0;
}

sdm_status sdm_tracker_create(const sdm_model* landmarks, const sdm_model* windows,
                              const sdm_model* verifier, const sdm_detector_options* detection,
                              const sdm_tracker_options* options, sdm_tracker** tracker) {
  return guarded([&] {
    const sdm_tracker_options o = options_of(options, sdm_tracker_options_init);
    sdm::face::TrackerOptions following;
    following.faces = o.faces;
    following.threshold = o.threshold;
    following.search_every = o.search_every;
    following.memory = o.memory;
    following.smooth = o.smooth != 0;
    require(tracker, "tracker");
    *tracker = new sdm_tracker(
        sdm::c::face_of(landmarks, "the landmarks"), sdm::c::windows_of(windows),
        sdm::c::face_of(verifier, "the verifier"), sdm::c::detection_of(detection), following);
  });
}

void sdm_tracker_free(sdm_tracker* tracker) { delete tracker; }

sdm_status sdm_tracker_update(sdm_tracker* tracker, const sdm_image* frame, double seconds,
                              const sdm_face** faces, int32_t* count) {
  return guarded([&] {
    require(tracker, "tracker");
    require(faces, "faces");
    require(count, "count");
    const auto& result = tracker->tracker.update(tracker->picture.grey(frame), seconds);
    tracker->faces.clear();
    for (const sdm::face::TrackedFace& face : result.faces) {
      sdm_face& out = tracker->faces.emplace_back();
      out.id = face.id;
      out.detected = face.detected ? 1 : 0;
      out.score = face.score;
      sdm::c::set_points(out, face.points, face.visible);
      sdm::c::set_box_around(out, face.points);
      sdm::c::set_pose(out, face.pose);
    }
    *faces = tracker->faces.data();
    *count = static_cast<int32_t>(tracker->faces.size());
  });
}

sdm_status sdm_tracker_reset(sdm_tracker* tracker) {
  return guarded([&] {
    require(tracker, "tracker");
    tracker->tracker.reset();
  });
}

void sdm_adapter_options_init(sdm_adapter_options* options) {
  const sdm::face::AdapterOptions defaults;
  *options = {};
  options->size = sizeof(*options);
  options->weight = defaults.weight;
  options->forgetting = defaults.forgetting;
  options->starts = defaults.starts;
  options->seed = defaults.seed;
}

sdm_status sdm_adapter_create(const sdm_model* model, const sdm_model* state,
                              sdm_adapter** adapter) {
  return guarded([&] {
    const auto face = sdm::c::face_of(model, "the model");
    const auto adaptation =
        sdm::c::content_of<sdm::face::Adaptation>(state, "the state", "'face-adaptation'");
    require(adapter, "adapter");
    *adapter = new sdm_adapter{sdm::face::Adapter(*face, *adaptation), {}};
  });
}

void sdm_adapter_free(sdm_adapter* adapter) { delete adapter; }

sdm_status sdm_adapter_update(sdm_adapter* adapter, const sdm_image* image, const float* xy,
                              const sdm_adapter_options* options) {
  return guarded([&] {
    require(adapter, "adapter");
    require(xy, "xy");
    const sdm_adapter_options o = options_of(options, sdm_adapter_options_init);
    sdm::face::AdapterOptions learning;
    learning.weight = o.weight;
    learning.forgetting = o.forgetting;
    learning.starts = o.starts;
    learning.seed = o.seed;
    const sdm::face::Shape truth =
        Eigen::Map<const sdm::face::Shape>(xy, 2, adapter->adapter.model().points());
    adapter->adapter.update(adapter->picture.grey(image), truth, learning);
  });
}

sdm_status sdm_adapter_result(const sdm_adapter* adapter, sdm_model** model, sdm_model** state) {
  return guarded([&] {
    require(adapter, "adapter");
    std::unique_ptr<sdm_model> adapted, learned;
    if (model != nullptr)
      adapted.reset(sdm::c::make_model_of<sdm::face::Model>(adapter->adapter.model()));
    if (state != nullptr) learned.reset(sdm::c::make_model_of(adapter->adapter.state()));
    if (model != nullptr) *model = adapted.release();
    if (state != nullptr) *state = learned.release();
  });
}
