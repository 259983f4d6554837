// The C interface as a careless program calls it: whatever pictures, numbers and options it hands
// over, a call gives a status and a sentence, and what it gives with SDM_OK is what its header
// says.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "sdm/c.h"
#include "sdm/io/bytes.h"
#include "tests/fuzz/small_models.h"

namespace {

void require(bool good) {
  if (!good) std::abort();
}

// Whether a call did what it was asked for.
bool good(sdm_status status) {
  require(status == SDM_OK || status == SDM_ERROR || status == SDM_CANCELLED);
  require(status == SDM_OK || *sdm_last_error() != '\0');
  return status == SDM_OK;
}

template <class Number>
bool finite(const Number* values, std::int64_t count) {
  return std::all_of(values, values + count, [](Number value) { return std::isfinite(value); });
}

// One of every kind, read once.
const sdm_model* model_of(const std::string& name) {
  using Owned = std::unique_ptr<sdm_model, decltype(&sdm_model_free)>;
  static const auto models = [] {
    std::vector<std::pair<std::string, Owned>> all;
    for (const auto& [key, file] : sdm::fuzz::small_models()) {
      if (key == "checkpoint" || key == "partition") continue;  // not of this interface
      const auto bytes = sdm::io::to_bytes(file);
      sdm_model* model = nullptr;
      require(good(sdm_model_read(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
                                  &model)));
      all.emplace_back(key, Owned(model, sdm_model_free));
    }
    return all;
  }();
  for (const auto& [key, model] : models)
    if (key == name) return model.get();
  return nullptr;
}

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  int below(int count) { return bytes_.ConsumeIntegralInRange(0, count - 1); }
  bool flip() { return bytes_.ConsumeBool(); }
  bool left() { return bytes_.remaining_bytes() > 0; }

  // Mostly of a size that makes sense.
  double number(double low, double high) {
    using Limits = std::numeric_limits<double>;
    static constexpr double kOdd[] = {0,
                                      -1,
                                      1e-30,
                                      1e30,
                                      -1e30,
                                      1e300,
                                      1e-300,
                                      0.5,
                                      Limits::max(),
                                      Limits::denorm_min(),
                                      Limits::infinity(),
                                      -Limits::infinity(),
                                      Limits::quiet_NaN()};
    const int kind = below(32);
    if (kind < 13) return kOdd[kind];
    return low + (high - low) * bytes_.ConsumeIntegral<std::uint16_t>() / 65535.0;
  }
  float real(double low, double high) { return static_cast<float>(narrowed(number(low, high))); }
  std::int32_t whole(int low, int high) {
    static constexpr std::int32_t kOdd[] = {0, -1, std::numeric_limits<std::int32_t>::max(),
                                            std::numeric_limits<std::int32_t>::min()};
    const int kind = below(16);
    return kind < 4 ? kOdd[kind] : bytes_.ConsumeIntegralInRange(low, high);
  }
  template <class Number>
  std::vector<Number> numbers(std::size_t count, double low, double high) {
    std::vector<Number> values(count);
    for (Number& value : values) value = static_cast<Number>(narrowed(number(low, high)));
    return values;
  }

 private:
  // As a float could hold it: other casts are not defined.
  static double narrowed(double value) {
    constexpr double kMost = std::numeric_limits<float>::max();
    return std::abs(value) <= kMost || !std::isfinite(value) ? value : std::copysign(kMost, value);
  }
  FuzzedDataProvider bytes_;
};

// A picture in memory of exactly its size, so that a read beside it is seen.
class Picture {
 public:
  explicit Picture(Input& in) {
    static constexpr int kChannels[] = {1, 3, 3, 4, 4};
    image_.format = in.below(5);
    image_.width = 1 + in.below(64);
    image_.height = 1 + in.below(64);
    const int row = image_.width * kChannels[image_.format], gap = in.below(4);
    image_.stride = row + gap;
    bytes_.resize(static_cast<std::size_t>(image_.stride) * (image_.height - 1) + row);
    const int base = in.below(256), step = in.below(64);
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      bytes_[i] = static_cast<std::uint8_t>(base + int(i ^ (i >> 5)) * step);
    image_.data = bytes_.data();
    if (in.below(8) == 0) {  // upwards
      image_.data += image_.stride * (image_.height - 1);
      image_.stride = -image_.stride;
    }
    if (in.below(8) == 0) spoil(in);
  }
  const sdm_image* image() const { return &image_; }

 private:
  // Into what is refused before a pixel is read.
  void spoil(Input& in) {
    const int kind = in.below(6);
    if (kind == 0) image_.data = nullptr;
    if (kind == 1) image_.width = in.flip() ? 0 : std::numeric_limits<std::int32_t>::max();
    if (kind == 2) image_.height = in.flip() ? -1 : std::numeric_limits<std::int32_t>::max();
    if (kind == 3 && image_.height > 1)
      image_.stride = image_.width == 1 && image_.format == SDM_GREY ? 0 : image_.width - 1;
    if (kind == 4) image_.format = in.whole(5, 1000);
    if (kind == 5 && image_.height > 1) image_.stride = std::numeric_limits<std::ptrdiff_t>::min();
    // Formats that are known again fit the memory no longer.
    if (kind == 4 && image_.format >= 0 && image_.format <= SDM_BGRA) image_.format = 5;
  }
  std::vector<std::uint8_t> bytes_;
  sdm_image image_{};
};

void check(const sdm_face& face) {
  require(face.score >= 0 && face.score <= 1);
  require(face.score == 0 || finite(face.xy, 2 * std::int64_t{face.points}));
}

sdm_detector_options detection(Input& in) {
  sdm_detector_options options;
  sdm_detector_options_init(&options);
  options.smallest = 24;
  options.min_score = 0;
  options.candidates = 10;
  while (in.flip() && in.left()) {
    switch (in.below(9)) {
      case 0:
        options.smallest = in.real(10, 100);
        break;
      case 1:
        options.largest = in.real(10, 100);
        break;
      case 2:
        options.min_score = in.real(0, 1);
        break;
      case 3:
        options.threshold = in.real(-2, 2);
        break;
      case 4:
        for (float& value : options.region) value = in.real(-20, 80);
        break;
      case 5:
        options.most = in.whole(0, 10);
        break;
      case 6:
        options.candidates = in.whole(0, 50);
        break;
      case 7:
        options.max_side = in.whole(1, 200);
        break;
      default:
        options.size = in.flip() ? 0 : sizeof(std::size_t) + std::size_t(in.below(48));
    }
  }
  return options;
}

void align(Input& in) {
  sdm_aligner* aligner = nullptr;
  require(good(sdm_aligner_create(model_of(in.flip() ? "face" : "face-on-base"), &aligner)));
  for (int i = 0; i < 2; ++i) {
    const Picture picture(in);
    const auto box = in.numbers<float>(4, -10, 70);
    sdm_face face{};
    if (good(sdm_aligner_align(aligner, picture.image(), box.data(), in.below(8) ? nullptr : "box",
                               &face)))
      check(face);
  }
  sdm_aligner_free(aligner);
}

void detect(Input& in) {
  const sdm_detector_options options = detection(in);
  sdm_detector* detector = nullptr;
  if (!good(sdm_detector_create(model_of("detector"), model_of("face"), nullptr, &options,
                                &detector)))
    return;
  const Picture picture(in);
  const sdm_face* faces = nullptr;
  std::int32_t count = 0;
  if (good(sdm_detector_detect(detector, picture.image(), &faces, &count)))
    std::for_each(faces, faces + count, check);
  sdm_detector_free(detector);
}

void track(Input& in) {
  const sdm_detector_options options = detection(in);
  sdm_tracker_options following;
  sdm_tracker_options_init(&following);
  following.faces = in.whole(1, 4);
  following.threshold = in.real(0, 1);
  following.search_every = in.whole(1, 4);
  following.memory = in.whole(0, 10);
  following.smooth = in.flip();
  sdm_tracker* tracker = nullptr;
  if (!good(sdm_tracker_create(model_of("face"), model_of("detector"), model_of("face"), &options,
                               &following, &tracker)))
    return;
  for (int i = 0; i < 3; ++i) {
    const Picture picture(in);
    const sdm_face* faces = nullptr;
    std::int32_t count = 0;
    if (good(sdm_tracker_update(tracker, picture.image(), in.number(0, 2), &faces, &count)))
      std::for_each(faces, faces + count, check);
    if (in.below(8) == 0) require(good(sdm_tracker_reset(tracker)));
  }
  sdm_tracker_free(tracker);
}

void adapt(Input& in) {
  sdm_adapter* adapter = nullptr;
  require(good(sdm_adapter_create(model_of("face"), model_of("adaptation"), &adapter)));
  sdm_adapter_options options;
  sdm_adapter_options_init(&options);
  options.starts = 1 + in.below(3);
  if (in.flip()) options.weight = in.number(0, 2);
  if (in.flip()) options.forgetting = in.number(0, 1);
  const Picture picture(in);
  const auto truth = in.numbers<float>(12, 0, 64);
  good(sdm_adapter_update(adapter, picture.image(), truth.data(), &options));
  sdm_model *model = nullptr, *state = nullptr;
  if (good(sdm_adapter_result(adapter, &model, &state))) {
    sdm_aligner* aligner = nullptr;
    require(good(sdm_aligner_create(model, &aligner)));
    const float box[4] = {10, 10, 40, 40};
    sdm_face face{};
    if (good(sdm_aligner_align(aligner, picture.image(), box, nullptr, &face))) check(face);
    sdm_aligner_free(aligner);
  }
  sdm_model_free(model);
  sdm_model_free(state);
  sdm_adapter_free(adapter);
}

void follow(Input& in) {
  sdm_rigid* tracker = nullptr;
  require(good(sdm_rigid_create(model_of("rigid"), &tracker)));
  for (int i = 0; i < 3; ++i) {
    const Picture picture(in);
    sdm_track found{};
    if (good(sdm_rigid_update(tracker, picture.image(), &found)))
      require(found.lost || (finite(found.corners, 8) && finite(found.warp, 9)));
    if (in.flip()) good(sdm_rigid_restart(tracker, in.numbers<double>(8, 0, 64).data()));
    if (in.below(4) == 0) require(good(sdm_rigid_adapt(tracker, in.flip())));
  }
  sdm_rigid_free(tracker);
}

void pose(Input& in) {
  sdm_pose* pose = nullptr;
  std::int32_t points = 0;
  require(good(sdm_pose_create(model_of("pose"), &pose)) && good(sdm_pose_points(pose, &points)));
  sdm_pose_options options;
  sdm_pose_options_init(&options);
  options.refine_steps = in.flip() ? in.below(4) : -in.below(100);
  options.outlier_pixels = in.flip() ? 0 : in.number(0, 10);
  const auto size = 2 * std::size_t(points);
  double result[7], error = 0;
  std::int32_t used = 0;
  if (good(sdm_pose_estimate(pose, in.numbers<double>(size, 0, 640).data(), &options, result,
                             &error, &used)))
    require(used <= points && (finite(result, 7) || !std::isfinite(error)));
  const std::ptrdiff_t stride = in.flip() ? 0 : std::ptrdiff_t(size) + in.below(4) - 1;
  const auto many = in.numbers<float>(3 * (size + 3), 0, 640);
  float results[21], errors[3];
  good(sdm_pose_estimate_batch(pose, in.below(4), many.data(), stride, in.below(3), results,
                               errors));
  sdm_pose_free(pose);

  sdm_head* head = nullptr;
  const std::int32_t count = in.below(10);
  const auto xyz = in.numbers<double>(3 * std::size_t(count) + 1, -1, 1);
  const auto weights = in.numbers<double>(std::size_t(count) + 1, 0, 1);
  if (good(sdm_head_create(count, xyz.data(), in.flip() ? weights.data() : nullptr, &head))) {
    sdm_head_pose turned{};
    if (good(sdm_head_estimate(head, count,
                               in.numbers<double>(2 * std::size_t(count), 0, 640).data(), &turned)))
      require(finite(turned.rotation, 9));
    sdm_head_free(head);
  }
}

// h of whatever size is asked for, with values that are not always numbers.
struct Function {
  std::int32_t states, features;
  double scale, offset;

  static std::int32_t call(void* user, std::int64_t count, const double* x, std::ptrdiff_t x_stride,
                           double* out, std::ptrdiff_t out_stride) {
    const Function& f = *static_cast<const Function*>(user);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int32_t r = 0; r < f.features; ++r)
        out[r * out_stride + i] =
            f.scale * std::sin(x[(r % f.states) * x_stride + i]) * (1 + r) + f.offset;
    return f.scale == 0.5 ? 1 : 0;
  }
};

sdm_problem problem(Function& function) {
  sdm_problem problem;
  sdm_problem_init(&problem);
  problem.states = function.states;
  problem.features = function.features;
  problem.h = &Function::call;
  problem.user = &function;
  return problem;
}

void solve(Input& in) {
  Function function{2, 3, in.number(0, 2), in.flip() ? 0 : in.number(-1, 1)};
  sdm_problem asked = problem(function);
  if (in.below(4) == 0) asked.block = in.whole(1, 200);
  const auto y = in.numbers<double>(4 * 5, -1, 1);
  sdm_learned* learned = nullptr;
  if (good(sdm_learned_create(model_of("learned"), &asked, &learned))) {
    sdm_solve_options options;
    sdm_solve_options_init(&options);
    if (in.flip()) options.confidence = in.number(0, 1);
    options.refine = in.whole(0, 2);
    options.further_starts = in.below(4) - 1;
    double x[8], radius[8], residual[4], relative[4];
    std::uint8_t status[4];
    const sdm_answers answers{x, radius, status, residual, relative};
    const int count = in.below(5);
    if (good(sdm_learned_solve(learned, count, y.data(), in.below(6), &options, &answers)))
      for (int i = 0; i < count; ++i)
        require(status[i] <= SDM_FAILED && (status[i] >= SDM_OUTSIDE || finite(x + 2 * i, 2)));
    sdm_learned_free(learned);
  }
  double x[2] = {in.number(-1, 1), in.number(-1, 1)}, covariance[4];
  sdm_refine_options options;
  sdm_refine_options_init(&options);
  options.max_evaluations = in.below(20) - 1;
  options.loss = in.whole(0, 3);
  options.loss_scale = in.number(0, 2);
  if (in.flip()) options.gradient_tolerance = in.number(0, 1);
  const auto bounds = in.numbers<double>(4, -1, 1);
  if (in.flip()) options.lower = bounds.data();
  if (in.flip()) options.upper = bounds.data() + 2;
  sdm_refine_summary summary{};
  good(sdm_refine(&asked, y.data(), x, &options, covariance, &summary));
}

void descend(Input& in) {
  const bool online = in.flip();
  Function function{online ? 2 : 3, online ? 4 : 5, in.number(0, 2), 0};
  if (in.below(8) == 0) function.states = 1 + in.below(4);
  const sdm_problem asked = problem(function);
  sdm_cascade* cascade = nullptr;
  require(good(sdm_cascade_create(model_of(online ? "online" : "cascade"), &cascade)));
  const auto y = in.numbers<double>(std::size_t(function.features), -1, 1);
  auto x = in.numbers<double>(std::size_t(function.states), -1, 1);
  const auto target = in.numbers<double>(std::size_t(function.states), -1, 1);
  const double weight = in.number(0, 2), forgetting = in.number(0, 1);
  good(sdm_cascade_update(cascade, &asked, in.flip() ? y.data() : nullptr, x.data(), target.data(),
                          weight, forgetting));
  double residual = 0;
  if (good(sdm_cascade_solve(cascade, &asked, in.flip() ? y.data() : nullptr, x.data(), &residual)))
    require(finite(x.data(), function.states));
  std::vector<double> r(15), b(3);
  good(sdm_cascade_map(cascade, in.whole(0, 3), r.data(), b.data()));
  sdm_cascade_free(cascade);

  const int samples = in.below(4);
  const auto map =
      in.numbers<double>(std::size_t(function.states) * std::size_t(function.features), -1, 1);
  const auto around = in.numbers<double>(std::size_t(function.states) * 4, -1, 1);
  sdm_certificate certificate{};
  good(sdm_certify(&asked, map.data(), x.data(), samples, around.data(), &certificate));
  double quantile = 0;
  good(sdm_conformal_quantile(in.below(10), in.numbers<double>(10, 0, 1).data(), in.number(0, 1),
                              &quantile));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr void (*kUses[])(Input&) = {align,  detect, track, adapt,
                                              follow, pose,   solve, descend};
  if (size < 2) return 0;
  Input in(data + 1, size - 1);
  kUses[data[0] % std::size(kUses)](in);
  return 0;
}
