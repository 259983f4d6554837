#include "sdm/face/train/train_detector.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>
#include <numeric>

#include "base/formatted.h"
#include "face/pyramid.h"
#include "face/scan.h"
#include "face/train/known_faces.h"
#include "face/train/logistic.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/base/thread_pool.h"
#include "sdm/image/hog.h"
#include "sdm/image/resample.h"
#include "sdm/image/warp.h"
#include "sdm/linear/ridge.h"

namespace sdm::face {
namespace {

constexpr std::size_t kEvery = 5;  // every so many faces and backgrounds
constexpr double kDegree = std::numbers::pi / 180;
// Windows are this far off at most: half a cell, and half of the way to the next size.
constexpr double kOff = 0.5, kLogScale = 0.11;
// Windows that overlap a face more than this (intersection over union) are not learned from.
constexpr float kOverlap = 0.25F;
// A window this near a face, in units, and of this ratio to its size finds it.
constexpr float kNearPlace = 0.35F, kNearSize = 1.2F;
constexpr float kSmallest = 32;  // px, of a window in a background
constexpr int kMaxSide = 2000;
constexpr int kNewton = 8;  // rounds of least squares at most
constexpr Index kBatch = 4096;
constexpr float kLevel = 1 / 255.F;  // features are 0 to 1 in the equations

using Windows = std::vector<std::uint8_t>;  // one after the other

// What a template is to know.
struct Pose {
  std::string name;
  double roll = 0, spread = 0;  // degrees
  int turn = 0;                 // -1, 1: to the one side or the other
  int mirror_of = -1;           // the pose whose mirror image it is
  bool is_gate = false;
};

std::vector<Pose> poses_of(const DetectorTrainerOptions& o) {
  std::vector<Pose> poses{{"upright", 0, o.upright, 0, -1, false}};
  const bool mirrored = !o.mirror.empty();
  const auto add_pair = [&](const std::string& what, double roll, double spread, int turn) {
    const int first = static_cast<int>(poses.size());
    poses.push_back({what + " left", -roll, spread, -turn, -1, false});
    poses.push_back({what + " right", roll, spread, turn, mirrored ? first : -1, false});
  };
  if (mirrored) add_pair("turned", 0, o.upright, 1);
  for (const double lean : o.leans)
    add_pair(o.leans.size() == 1 ? "leaning" : formatted("leaning {}", lean), lean, o.lean, 0);
  if (o.gate) {
    double reach = o.upright;
    for (const double lean : o.leans) reach = std::max(reach, lean + o.lean);
    poses.push_back({"gate", 0, reach, 0, -1, true});
  }
  return poses;
}

// How far each face turns to a side: its first antisymmetric component. The unit is of no matter.
Vector<double> turns_of(const std::vector<Shape>& shapes, const Shape& mean,
                        const std::vector<int>& mirror, detail::Ranks& ranks) {
  const auto count = static_cast<Index>(shapes.size());
  if (mirror.empty()) return Vector<double>::Zero(count);
  Matrix<double> odd(mean.size(), count);
  Shape face(2, mean.cols());
  for (Index i = 0; i < count; ++i) {
    const Shape& shape = shapes[static_cast<std::size_t>(i)];
    fit_similarity(mean, shape).to_face(shape, face);
    for (Index p = 0; p < mean.cols(); ++p) {
      const Index partner = mirror[static_cast<std::size_t>(p)];
      odd(2 * p, i) = 0.5 * static_cast<double>(face(0, p) + face(0, partner));
      odd(2 * p + 1, i) = 0.5 * static_cast<double>(face(1, p) - face(1, partner));
    }
  }
  Matrix<double> gram = odd * odd.transpose();
  ranks.sum(std::span(gram.data(), static_cast<std::size_t>(gram.size())));
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> components(gram);
  const Vector<double> first = components.eigenvectors().col(mean.size() - 1);
  // To the right of the picture is positive.
  double side = 0;
  for (Index p = 0; p < mean.cols(); ++p) side += first[2 * p];
  return (side < 0 ? -1.0 : 1.0) * (odd.transpose() * first);
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) throw Error("detector training: no held-out windows, expected some");
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}

// A template in the making, in units of features from 0 to 1.
struct Linear {
  Vector<float> weights;
  float bias = 0;

  float score(const std::uint8_t* window) const {
    const Eigen::Map<const Vector<std::uint8_t>> bytes(window, weights.size());
    return kLevel * weights.dot(bytes.cast<float>()) + bias;
  }
};

DetectorTemplate quantised(const Linear& linear, const Pose& pose) {
  DetectorTemplate out;
  out.name = pose.name;
  out.roll = static_cast<float>(pose.roll * kDegree);
  const float step = std::max(linear.weights.cwiseAbs().maxCoeff(), 1e-9F) / 127;
  out.scale = step * kLevel;
  out.bias = linear.bias;
  for (const float w : linear.weights)
    out.weights.push_back(static_cast<std::int8_t>(std::lround(w / step)));
  return out;
}

class Training {
 public:
  Training(const std::vector<TrainingFace>& faces, const std::vector<Background>& backgrounds,
           const DetectorTrainerOptions& options, const DetectorObserver& observer)
      : faces_(&faces),
        backgrounds_(&backgrounds),
        options_(options),
        observer_(observer),
        pool_(options.threads),
        ranks_(options.communicator),
        face_share_(ranks_.share_of(static_cast<Index>(faces.size()))),
        background_share_(ranks_.share_of(static_cast<Index>(backgrounds.size()))),
        poses_(poses_of(options)) {
    ranks_.together([&] {
      options.validate();
      if (face_share_.all < 10)
        throw Error(formatted("detector training: {} faces, expected 10 or more", face_share_.all));
      if (background_share_.all < static_cast<Index>(kEvery))
        throw Error(formatted("detector training: {} backgrounds, expected {} or more",
                              background_share_.all, kEvery));
    });
  }

  TrainedDetector run();

 private:
  Index features() const { return static_cast<Index>(shape_.columns) * shape_.rows * image::kBins; }
  std::size_t size() const { return static_cast<std::size_t>(features()); }
  // Numbers across all ranks.
  std::size_t face_number(std::size_t i) const {
    return static_cast<std::size_t>(face_share_.first) + i;
  }
  std::size_t background_number(std::size_t i) const {
    return static_cast<std::size_t>(background_share_.first) + i;
  }
  static bool is_held_out(std::size_t number) { return number % kEvery == kEvery - 1; }
  std::size_t count_all(const Windows& windows) {
    const std::size_t own = windows.size() / size();
    return static_cast<std::size_t>(ranks_.sum(static_cast<double>(own)));
  }
  // In parallel; if it fails on one rank, all of them throw.
  template <class Work>
  void in_parallel(Index count, Work&& work) {
    ranks_.together([&] { pool_.run(count, work); });
  }
  void say(double share, const std::string& activity) const {
    if (observer_.progress) observer_.progress(share, activity);
  }

  void measure();
  bool belongs(std::size_t face, bool mirrored, const Pose& pose) const;
  Windows draw_faces(const Pose& pose, bool held_out);
  Windows draw_rest(bool held_out);
  Windows mine(const Linear& linear, bool held_out, int most, float above, long* seen = nullptr);
  bool is_free(const Background& background, const Similarity& place) const;
  Linear solve(const Windows& faces, const Windows& rest, const Linear* from);
  // What the templates say of a window.
  struct Said {
    double gate = 0, best = -1e3;
  };
  std::vector<Said> ask_near(const DetectorModel& model, std::size_t face, double angle,
                             Pyramid& pyramid) const;
  void set_thresholds(TrainedDetector& trained);
  Linear learn(const Pose& pose, double begin, double end, TemplateSummary& summary);

  const std::vector<TrainingFace>* faces_;
  const std::vector<Background>* backgrounds_;
  DetectorTrainerOptions options_;
  DetectorObserver observer_;
  ThreadPool pool_;
  detail::Ranks ranks_;
  const detail::Ranks::Share face_share_, background_share_;
  std::vector<Pose> poses_;
  WindowShape shape_;
  Shape mean_;
  std::vector<Shape> shapes_;
  Vector<double> turns_;
  double frontal_ = 0, turned_ = 0;
  Windows rest_;
};

void Training::measure() {
  const KnownFaces known = KnownFaces::of(*faces_, points_of(*faces_, ranks_), 0, ranks_);
  mean_ = mean_shape(known.truths, options_.mirror, options_.unit);
  for (const TrainingFace& face : *faces_) shapes_.push_back(complete(face.truth, mean_));
  const Eigen::AlignedBox2f box = bounds(mean_);
  const int inner = options_.cells - 2 * options_.border;
  shape_.cell = box.sizes().maxCoeff() / static_cast<float>(inner);
  const auto cells = [&](float side) {
    return static_cast<int>(std::ceil(side / shape_.cell - 1e-3F)) + 2 * options_.border;
  };
  shape_.columns = cells(box.sizes().x());
  shape_.rows = cells(box.sizes().y());
  turns_ = turns_of(shapes_, mean_, options_.mirror, ranks_);
  std::vector<double> sizes;
  for (const double turn : turns_) sizes.push_back(std::abs(turn));
  sizes = ranks_.gather(sizes, 1, kMostScores);
  frontal_ = quantile(sizes, options_.frontal_share);
  turned_ = quantile(sizes, options_.turned_from);
}

bool Training::belongs(std::size_t face, bool mirrored, const Pose& pose) const {
  if (pose.is_gate || options_.mirror.empty() || (pose.turn == 0 && pose.roll != 0)) return true;
  const double turn = (mirrored ? -1 : 1) * turns_[static_cast<Index>(face)];
  return pose.turn == 0 ? std::abs(turn) <= frontal_ : pose.turn * turn >= turned_;
}

// Windows of the faces as the pose has them, and of their mirror images.
Windows Training::draw_faces(const Pose& pose, bool held_out) {
  struct Drawing {
    std::size_t face;
    bool mirrored;
    int view;
  };
  std::vector<Drawing> drawings;
  for (std::size_t i = 0; i < faces_->size(); ++i) {
    if (is_held_out(face_number(i)) != held_out) continue;
    for (const bool mirrored : {false, true})
      for (int view = 0; view < options_.views; ++view)
        if ((!mirrored || !options_.mirror.empty()) && belongs(i, mirrored, pose))
          drawings.push_back({i, mirrored, view});
  }
  Windows out(drawings.size() * size());
  const std::vector<int> mirror = image::mirror_permutation(shape_.columns, shape_.rows);
  const int largest = (std::max(shape_.columns, shape_.rows) + 2) * 7;
  struct Worker {
    image::Resampler resample;
    image::Image<float> canvas;
    image::CellGrid grid;
    image::Image<std::uint8_t> bytes;
  };
  std::deque<Worker> workers;
  for (int i = 0; i < pool_.threads(); ++i)
    workers.push_back({image::Resampler(largest, largest), {}, {}, {}});
  in_parallel(static_cast<Index>(drawings.size()), [&](Index d, int thread) {
    Worker& worker = workers[static_cast<std::size_t>(thread)];
    const Drawing& drawing = drawings[static_cast<std::size_t>(d)];
    Random random(options_.seed, "window of " + pose.name,
                  (face_number(drawing.face) * 2 + (drawing.mirrored ? 1 : 0)) *
                          static_cast<std::uint64_t>(options_.views) +
                      static_cast<std::uint64_t>(drawing.view));
    const Similarity place = fit_similarity(mean_, shapes_[drawing.face]);
    const int cell = 4 + static_cast<int>(random.below(4));
    // The face is to have this roll in the window; its mirror image, the other one.
    double roll = (pose.roll + random.uniform(-pose.spread, pose.spread)) * kDegree;
    if (drawing.mirrored) roll = -roll;
    const double turn =
        std::atan2(static_cast<double>(place.b), static_cast<double>(place.a)) - roll;
    const double unit = static_cast<double>(place.scale());
    const double scale = unit * static_cast<double>(shape_.cell) / cell *
                         std::exp(random.uniform(-kLogScale, kLogScale));
    const double step = unit * static_cast<double>(shape_.cell);
    const double x = static_cast<double>(place.x) + step * random.uniform(-kOff, kOff),
                 y = static_cast<double>(place.y) + step * random.uniform(-kOff, kOff);
    const int width = (shape_.columns + 2) * cell, height = (shape_.rows + 2) * cell;
    const double a = scale * std::cos(turn), b = scale * std::sin(turn);
    const double u = 0.5 * (width - 1), v = 0.5 * (height - 1);
    image::AffineMap map;
    map << a, -b, x - a * u + b * v,  //
        b, a, y - b * u - a * v;
    worker.canvas = image::Image<float>(width, height);
    worker.bytes = image::Image<std::uint8_t>(width, height);
    worker.resample((*faces_)[drawing.face].picture, map, worker.canvas);
    // Faces in the dark are faces.
    const double contrast = std::exp(random.uniform(std::log(0.4), 0));
    for (int r = 0; r < height; ++r)
      for (int c = 0; c < width; ++c)
        worker.bytes(c, r) = static_cast<std::uint8_t>(
            std::lround(contrast * static_cast<double>(worker.canvas(c, r))));
    image::cell_grid(worker.bytes, cell, 0, worker.grid);
    std::uint8_t* to = out.data() + static_cast<std::size_t>(d) * size();
    const int row = shape_.columns * image::kBins;
    for (int i = 0; i < static_cast<int>(size()); ++i) {
      const int from = drawing.mirrored ? mirror[static_cast<std::size_t>(i)] : i;
      to[i] = static_cast<std::uint8_t>(worker.grid.at(1, 1 + from / row)[from % row]);
    }
  });
  return out;
}

bool Training::is_free(const Background& background, const Similarity& place) const {
  const float width = shape_.cell * static_cast<float>(shape_.columns) * place.a,
              height = shape_.cell * static_cast<float>(shape_.rows) * place.a;
  const Eigen::AlignedBox2f window(
      Eigen::Vector2f(place.x - 0.5F * width, place.y - 0.5F * height),
      Eigen::Vector2f(place.x + 0.5F * width, place.y + 0.5F * height));
  return std::none_of(background.objects.begin(), background.objects.end(), [&](const Box& box) {
    const Eigen::AlignedBox2f object(Eigen::Vector2f(box.x, box.y),
                                     Eigen::Vector2f(box.x + box.width, box.y + box.height));
    const Eigen::AlignedBox2f both = window.intersection(object);
    if (both.isEmpty()) return false;
    return both.volume() > kOverlap * (window.volume() + object.volume() - both.volume());
  });
}

void copy_window(const image::CellGrid& grid, int x, int y, const WindowShape& shape, Windows& to) {
  for (int r = 0; r < shape.rows; ++r) {
    const std::int16_t* cells = grid.at(x, y + r);
    for (int i = 0; i < shape.columns * image::kBins; ++i)
      to.push_back(static_cast<std::uint8_t>(cells[i]));
  }
}

Windows joined(const std::vector<Windows>& parts) {
  Windows all;
  for (const Windows& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Any windows of the backgrounds.
Windows Training::draw_rest(bool held_out) {
  std::vector<Windows> parts(backgrounds_->size());
  std::deque<Pyramid> pyramids(static_cast<std::size_t>(pool_.threads()));
  in_parallel(static_cast<Index>(parts.size()), [&](Index i, int thread) {
    const auto at = static_cast<std::size_t>(i);
    if (is_held_out(background_number(at)) != held_out) return;
    const Background& background = (*backgrounds_)[at];
    Pyramid& pyramid = pyramids[static_cast<std::size_t>(thread)];
    const auto begin = [&] {
      pyramid.start(background.picture, shape_, kSmallest, 1e9F, kMaxSide);
    };
    double all = 0;
    for (begin(); pyramid.next();) all += static_cast<double>(pyramid.columns()) * pyramid.rows();
    Random random(options_.seed, "rest", background_number(at));
    for (begin(); pyramid.next();) {
      const double here = static_cast<double>(pyramid.columns()) * pyramid.rows();
      // Small windows are many and alike: the root gives the large ones their part.
      const int count = static_cast<int>(std::ceil(options_.windows * std::sqrt(here / all) / 3));
      for (int k = 0; k < count; ++k) {
        const int x = static_cast<int>(random.below(static_cast<std::size_t>(pyramid.columns()))),
                  y = static_cast<int>(random.below(static_cast<std::size_t>(pyramid.rows())));
        if (is_free(background, pyramid.place(x, y)))
          copy_window(pyramid.grid(), x, y, shape_, parts[at]);
      }
    }
  });
  return joined(parts);
}

// The windows of the backgrounds that score highest, at most so many a picture, no two neighbours.
Windows Training::mine(const Linear& linear, bool held_out, int most, float above, long* seen) {
  const DetectorTemplate narrow = quantised(linear, poses_.front());
  const ScanTemplate scanned(shape_.columns, shape_.rows, narrow.weights);
  std::vector<Windows> parts(backgrounds_->size());
  std::vector<long> counts(parts.size(), 0);
  std::deque<Pyramid> pyramids(static_cast<std::size_t>(pool_.threads()));
  in_parallel(static_cast<Index>(parts.size()), [&](Index i, int thread) {
    const auto at = static_cast<std::size_t>(i);
    if (is_held_out(background_number(at)) != held_out) return;
    struct Hard {
      float score;
      std::size_t window;
      Similarity place;
    };
    const Background& background = (*backgrounds_)[at];
    Pyramid& pyramid = pyramids[static_cast<std::size_t>(thread)];
    std::vector<Hard> hard;
    Windows windows;
    std::vector<std::int32_t> sums;
    pyramid.start(background.picture, shape_, kSmallest, 1e9F, kMaxSide);
    while (pyramid.next()) {
      sums.resize(static_cast<std::size_t>(pyramid.columns()));
      counts[at] += static_cast<long>(pyramid.columns()) * pyramid.rows();
      for (int y = 0; y < pyramid.rows(); ++y) {
        scan_row(pyramid.grid(), y, scanned, sums);
        for (int x = 0; x < pyramid.columns(); ++x) {
          const float score =
              narrow.scale * static_cast<float>(sums[static_cast<std::size_t>(x)]) + narrow.bias;
          if (score < above || !is_free(background, pyramid.place(x, y))) continue;
          hard.push_back({score, hard.size(), pyramid.place(x, y)});
          copy_window(pyramid.grid(), x, y, shape_, windows);
        }
      }
    }
    std::sort(hard.begin(), hard.end(), [](const Hard& a, const Hard& b) {
      return a.score > b.score || (a.score == b.score && a.window < b.window);
    });
    std::vector<Similarity> taken;
    for (const Hard& one : hard) {
      if (static_cast<int>(taken.size()) == most) break;
      if (std::any_of(taken.begin(), taken.end(), [&](const Similarity& other) {
            return other.a == one.place.a && std::abs(other.x - one.place.x) < 0.3F * one.place.a &&
                   std::abs(other.y - one.place.y) < 0.3F * one.place.a;
          }))
        continue;
      taken.push_back(one.place);
      const auto from = windows.begin() + static_cast<std::ptrdiff_t>(one.window * size());
      parts[at].insert(parts[at].end(), from, from + static_cast<std::ptrdiff_t>(size()));
    }
  });
  if (seen != nullptr)
    *seen = static_cast<long>(
        ranks_.sum(static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0L))));
  return joined(parts);
}

// Least squares on labels 1 and -1, on all windows or, given a template to begin with, on those
// that it does not yet tell by a margin of 1. Faces weigh as much as the rest, as a whole.
Linear Training::solve(const Windows& faces, const Windows& rest, const Linear* from) {
  const auto count = [&](const Windows& windows) { return windows.size() / size(); };
  const double face_weight = static_cast<double>(count_all(rest)) /
                             static_cast<double>(std::max<std::size_t>(count_all(faces), 1));
  linear::NormalEquations<float> equations(features(), 1);
  Matrix<float> chunk(features(), kBatch);
  Matrix<float> targets(1, kBatch);
  Vector<float> roots(kBatch);
  Index filled = 0;
  const auto flush = [&] {
    if (filled > 0)
      equations.add(chunk.leftCols(filled), targets.leftCols(filled), roots.head(filled), pool_);
    filled = 0;
  };
  for (const bool is_face : {true, false}) {
    const Windows& windows = is_face ? faces : rest;
    const float label = is_face ? 1 : -1,
                root = is_face ? static_cast<float>(std::sqrt(face_weight)) : 1;
    for (std::size_t i = 0; i < count(windows); ++i) {
      const std::uint8_t* window = windows.data() + i * size();
      if (from != nullptr && label * from->score(window) >= 1) continue;
      chunk.col(filled) =
          root * kLevel * Eigen::Map<const Vector<std::uint8_t>>(window, features()).cast<float>();
      targets(0, filled) = root * label;
      roots[filled] = root;
      if (++filled == kBatch) flush();
    }
  }
  flush();
  const auto fit = ranks_.solve(equations, [&](const linear::NormalEquations<float>& all) {
    const double energy = all.energy(true) / static_cast<double>(features());
    return linear::ridge(all, options_.penalty * energy, true, pool_);
  });
  return {fit.weights.col(0), fit.target_mean[0] - fit.weights.col(0).dot(fit.feature_mean)};
}

Linear Training::learn(const Pose& pose, double begin, double end, TemplateSummary& summary) {
  say(begin, pose.name + ": drawing");
  const Windows faces = draw_faces(pose, false);
  const std::size_t drawn = count_all(faces);
  ranks_.together([&] {
    if (drawn < 20)
      throw Error(
          formatted("detector training: {} windows for the template '{}', expected 20 or more",
                    drawn, pose.name));
  });
  Windows rest = rest_;
  Linear linear = solve(faces, rest, nullptr);
  const auto newton = [&] {
    for (int i = 0; i < kNewton; ++i) {
      const Linear next = solve(faces, rest, &linear);
      const float moved = (next.weights - linear.weights).norm() / linear.weights.norm();
      linear = next;
      if (moved < 0.03F) break;
    }
  };
  for (int round = 0; round < options_.rounds; ++round) {
    say(begin + (end - begin) * (round + 0.3) / (options_.rounds + 0.3),
        formatted("{}: round {}", pose.name, round + 1));
    const Windows hard = mine(linear, false, options_.hard, -0.5F);
    rest.insert(rest.end(), hard.begin(), hard.end());
    newton();
  }
  summary.faces = static_cast<int>(drawn);
  summary.others = static_cast<int>(count_all(rest));
  return linear;
}

// The windows near a face, turned by an angle: what the gate and the best template say of each.
std::vector<Training::Said> Training::ask_near(const DetectorModel& model, std::size_t face,
                                               double angle, Pyramid& pyramid) const {
  const image::ByteView whole = (*faces_)[face].picture;
  const double u = 0.5 * (whole.width - 1), v = 0.5 * (whole.height - 1), c = std::cos(angle),
               s = std::sin(angle);
  image::AffineMap back;
  back << c, s, u - c * u - s * v,  //
      -s, c, v + s * u - c * v;
  image::Image<std::uint8_t> turned(whole.width, whole.height);
  image::warp_affine(whole, back, turned);
  const Similarity before = fit_similarity(mean_, shapes_[face]);
  const double x = static_cast<double>(before.x) - u, y = static_cast<double>(before.y) - v;
  const auto at_x = static_cast<float>(u + c * x - s * y),
             at_y = static_cast<float>(v + s * x + c * y), unit = before.scale();
  const auto score = [](const DetectorTemplate& one, const ScanTemplate& weights,
                        const image::CellGrid& grid, int column, int row) {
    return static_cast<double>(one.scale * static_cast<float>(scan_at(grid, column, row, weights)) +
                               one.bias);
  };
  const auto weights_of = [&](const DetectorTemplate& one) {
    return ScanTemplate(shape_.columns, shape_.rows, one.weights);
  };
  std::vector<ScanTemplate> weights;
  for (const DetectorTemplate& one : model.templates) weights.push_back(weights_of(one));
  const ScanTemplate gate = model.has_gate() ? weights_of(model.gate) : ScanTemplate();
  std::vector<Said> said;
  const float window = unit * shape_.cell * static_cast<float>(shape_.columns);
  pyramid.start(turned, shape_, window / kNearSize, window * kNearSize, kMaxSide);
  while (pyramid.next())
    for (int row = 0; row < pyramid.rows(); ++row)
      for (int column = 0; column < pyramid.columns(); ++column) {
        const Similarity place = pyramid.place(column, row);
        if (std::hypot(place.x - at_x, place.y - at_y) > kNearPlace * unit) continue;
        Said& one = said.emplace_back();
        if (model.has_gate()) one.gate = score(model.gate, gate, pyramid.grid(), column, row);
        for (std::size_t t = 0; t < weights.size(); ++t)
          one.best = std::max(one.best,
                              score(model.templates[t], weights[t], pyramid.grid(), column, row));
      }
  return said;
}

// So that the shares of the held-out faces that the options ask for are found, upright and leaning.
void Training::set_thresholds(TrainedDetector& trained) {
  DetectorModel& model = trained.model;
  std::vector<double> angles{0};
  for (const double lean : options_.leans) angles.insert(angles.end(), {-lean, lean});
  std::vector<std::size_t> held;
  for (std::size_t i = 0; i < faces_->size(); ++i)
    if (is_held_out(face_number(i))) held.push_back(i);
  std::vector<std::vector<Said>> said(held.size() * angles.size());
  std::deque<Pyramid> pyramids(static_cast<std::size_t>(pool_.threads()));
  in_parallel(static_cast<Index>(said.size()), [&](Index i, int thread) {
    const auto at = static_cast<std::size_t>(i);
    said[at] = ask_near(model, held[at / angles.size()], angles[at % angles.size()] * kDegree,
                        pyramids[static_cast<std::size_t>(thread)]);
  });
  const auto best_of = [&](const auto& value) {
    std::vector<double> best;
    for (const std::vector<Said>& face : said) {
      if (face.empty()) continue;  // no window shows it: that tells nothing of the templates
      best.push_back(-1e3);
      for (const Said& one : face) best.back() = std::max(best.back(), value(one));
    }
    return ranks_.gather(best, 1, kMostScores);
  };
  if (model.has_gate())
    model.gate_threshold = static_cast<float>(
        quantile(best_of([](const Said& one) { return one.gate; }), 1 - options_.gate_recall));
  const auto open = static_cast<double>(model.gate_threshold);
  const std::vector<double> best = best_of(
      [&](const Said& one) { return !model.has_gate() || one.gate >= open ? one.best : -1e3; });
  // Few faces held out tell little of the next ones: what is more likely a face than not passes.
  model.threshold = static_cast<float>(std::min(quantile(best, 1 - options_.recall), 0.0));
  trained.recall =
      static_cast<double>(std::count_if(
          best.begin(), best.end(),
          [&](double score) { return score >= static_cast<double>(model.threshold); })) /
      static_cast<double>(best.size());
}

TrainedDetector Training::run() {
  measure();
  say(0, "drawing backgrounds");
  rest_ = draw_rest(false);
  // Where nothing is mistaken for a face, what is none must still be there.
  const Windows held_rest = draw_rest(true);
  TrainedDetector trained;
  trained.mean = mean_;
  DetectorModel& model = trained.model;
  model.columns = shape_.columns;
  model.rows = shape_.rows;
  model.cell = shape_.cell;
  model.name = options_.name;
  model.provenance = options_.provenance;
  model.licence = options_.licence;
  const std::vector<int> mirror = image::mirror_permutation(shape_.columns, shape_.rows);
  std::vector<Linear> learned(poses_.size());
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    const Pose& pose = poses_[i];
    TemplateSummary summary;
    summary.name = pose.name;
    Linear& linear = learned[i];
    if (pose.mirror_of >= 0) {
      const auto of = static_cast<std::size_t>(pose.mirror_of);
      linear = learned[of];
      for (Index k = 0; k < features(); ++k)
        linear.weights[k] = learned[of].weights[mirror[static_cast<std::size_t>(k)]];
      summary = trained.templates[of];
      summary.name = pose.name;
    } else {
      linear = learn(
          pose, 0.02 + 0.96 * static_cast<double>(i) / static_cast<double>(poses_.size()),
          0.02 + 0.96 * static_cast<double>(i + 1) / static_cast<double>(poses_.size()), summary);
    }
    if (pose.is_gate || pose.mirror_of >= 0) {
      trained.templates.push_back(summary);
      continue;
    }
    // As log odds: of the windows of one held-out picture that come to be looked at, one is a face.
    const Windows held = draw_faces(pose, true), hard = mine(linear, true, 1000, -0.5F);
    std::vector<double> scores, labels, divisors;
    const auto score_all = [&](const Windows& windows, double label, double divisor) {
      for (std::size_t k = 0; k < windows.size(); k += size()) {
        scores.push_back(static_cast<double>(linear.score(windows.data() + k)));
        labels.push_back(label);
        divisors.push_back(divisor);
      }
    };
    const std::size_t faces = count_all(held);
    const auto pictures = static_cast<std::size_t>(background_share_.all) / kEvery;
    ranks_.together([&] {
      if (faces == 0)
        throw Error(
            formatted("detector training: no held-out object shows the template '{}'", pose.name));
    });
    score_all(held, 1, static_cast<double>(faces) / static_cast<double>(pictures));
    score_all(hard, -1, 1);
    score_all(held_rest, -1, 1);
    for (std::vector<double>* values : {&scores, &labels, &divisors})
      *values = ranks_.gather(*values, 1, kMostScores);
    Logistic logistic = fit_logistic(scores, labels, divisors);
    ranks_.broadcast(std::span(&logistic.slope, 1));
    ranks_.broadcast(std::span(&logistic.offset, 1));
    ranks_.together([&] {
      if (!(logistic.slope > 0))
        throw Error(
            formatted("detector training: the template '{}' does not tell held-out objects from "
                      "backgrounds, the slope of its odds is {}",
                      pose.name, logistic.slope));
    });
    linear.weights *= static_cast<float>(logistic.slope);
    linear.bias =
        static_cast<float>(logistic.slope * static_cast<double>(linear.bias) + logistic.offset);
    trained.templates.push_back(summary);
  }

  for (std::size_t i = 0; i < poses_.size(); ++i)
    (poses_[i].is_gate ? model.gate : model.templates.emplace_back()) =
        quantised(learned[i], poses_[i]);
  set_thresholds(trained);
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    const float threshold = poses_[i].is_gate ? model.gate_threshold : model.threshold;
    long seen = 0;
    const Windows others = mine(learned[i], true, 1 << 30, threshold, &seen);
    const std::size_t count = count_all(others);
    trained.templates[i].passed =
        1e6 * static_cast<double>(count) / static_cast<double>(std::max(seen, 1L));
  }
  say(1, "done");
  model.validate();
  return trained;
}

}  // namespace

void DetectorTrainerOptions::validate() const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error("detector training: " + message);
  };
  require(cells >= 3 && cells <= DetectorModel::kMaxCells,
          formatted("{} cells a window, expected 3 to {}", cells, DetectorModel::kMaxCells));
  require(border >= 0 && 2 * border < cells, formatted("a border of {} cells", border));
  require(views >= 1 && windows >= 1 && rounds >= 0 && hard >= 1,
          formatted("{} views, {} windows, {} rounds and {} hard ones, expected 1 or more", views,
                    windows, rounds, hard));
  require(penalty > 0, formatted("the penalty is {}, expected a number above 0", penalty));
  require(recall > 0 && recall <= 1 && gate_recall > 0 && gate_recall <= 1,
          formatted("the recalls are {} and {}, expected above 0, to 1", recall, gate_recall));
  require(upright >= 0 && upright <= 90 && lean >= 0 && lean <= 90,
          formatted("the angles are {} and {}, expected 0 to 90", upright, lean));
  for (const double one : leans)
    require(one > 0 && one <= 180, formatted("a lean of {} degrees, expected 0 to 180", one));
  require(frontal_share > 0 && frontal_share <= 1 && turned_from >= 0 && turned_from < 1,
          formatted("the shares are {} and {}, expected 0 to 1", frontal_share, turned_from));
}

TrainedDetector train_detector(const std::vector<TrainingFace>& faces,
                               const std::vector<Background>& backgrounds,
                               const DetectorTrainerOptions& options,
                               const DetectorObserver& observer) {
  return Training(faces, backgrounds, options, observer).run();
}

}  // namespace sdm::face
