#include "sdm/face/detector.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/formatted.h"
#include "face/pyramid.h"
#include "face/scan.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

// Candidates that are kept before they are sorted out.
constexpr std::size_t kMostCandidates = 8192;
// Windows nearer than this, in sides of the larger one, and of less than this ratio show one face.
constexpr float kNearWindow = 0.3F, kLikeWindow = 1.6F;
// A fit this good is a face.
constexpr float kGood = 0.5F;
// A fit this poor will not become a face by a second look.
constexpr float kHopeless = 0.02F;
// A fit that has left its candidate by more than this ratio of sizes found something else.
constexpr float kSameScale = 2;
// A face smaller than this says nothing: an eye of about 1.2 pixels.
constexpr float kLeastFace = 4;

// The smallest box that is looked for, px, if nobody says it: small pictures have small faces.
constexpr float kUsualSmallest = 40, kLeastSmallest = 20, kFacesASide = 16;

// Keeps of each group that are the same its first one; gives the end of what is kept.
template <class Iterator, class Same>
Iterator distinct(Iterator begin, Iterator end, const Same& same) {
  Iterator kept = begin;
  for (Iterator i = begin; i != end; ++i)
    if (std::none_of(begin, kept, [&](const auto& other) { return same(other, *i); })) *kept++ = *i;
  return kept;
}

bool same_window(const Similarity& a, const Similarity& b, float units) {
  const float s = a.scale(), t = b.scale(), large = std::max(s, t), small = std::min(s, t);
  return large < kLikeWindow * small &&
         std::max(std::abs(a.x - b.x), std::abs(a.y - b.y)) < kNearWindow * units * large;
}

}  // namespace

bool same_face(const Similarity& a, const Similarity& b) {
  constexpr float kSamePlace = 0.7F, kSameSize = 2;
  const float large = std::max(a.scale(), b.scale()), small = std::min(a.scale(), b.scale());
  return std::hypot(a.x - b.x, a.y - b.y) < kSamePlace * large && large < kSameSize * small;
}

void DetectorOptions::validate() const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error("detector: " + message);
  };
  const float least = smallest.value_or(kLeastSmallest);
  require(least >= 1 && least <= 1e6F,
          formatted("the smallest face is {} px, expected 1 to 1000000", least));
  require(
      largest >= least,
      formatted("the largest face is {} px, expected at least the smallest, {}", largest, least));
  require(min_score >= 0 && min_score <= 1,
          formatted("the least score is {}, expected 0 to 1", min_score));
  require(std::abs(threshold) <= 1e6F,
          formatted("the threshold is {}, expected a finite number", threshold));
  require(most >= 1 && most <= 10000, formatted("{} faces, expected 1 to 10000", most));
  require(candidates >= 1 && candidates <= 10000,
          formatted("{} candidates, expected 1 to 10000", candidates));
  require(std::abs(region.x) <= 1e6F && std::abs(region.y) <= 1e6F && region.width >= 0 &&
              region.width <= 1e6F && region.height >= 0 && region.height <= 1e6F,
          formatted("the region {},{} of {} x {} px, expected numbers up to 1000000 and no "
                    "negative size",
                    region.x, region.y, region.width, region.height));
  require(max_side >= 16 && max_side <= 1000000,
          formatted("the longest side is {} px, expected 16 to 1000000", max_side));
}

float DetectorOptions::smallest_in(int width, int height) const {
  if (smallest) return *smallest;
  const auto side = static_cast<float>(std::max(width, height));
  return std::min(largest, std::clamp(side / kFacesASide, kLeastSmallest, kUsualSmallest));
}

struct Detector::State {
  struct Candidate {
    float score = 0;
    Similarity place;

    // The best first; where scores are equal, in an order of its own, so that it does not depend on
    // how they were collected.
    bool operator<(const Candidate& other) const {
      return std::tuple(-score, place.a, place.y, place.x, place.b) <
             std::tuple(-other.score, other.place.a, other.place.y, other.place.x, other.place.b);
    }
  };

  struct RunTemplate {
    ScanTemplate weights;
    float scale, bias, cosine, sine;

    RunTemplate(const DetectorModel& model, const DetectorTemplate& one)
        : weights(model.columns, model.rows, one.weights),
          scale(one.scale),
          bias(one.bias),
          cosine(std::cos(one.roll)),
          sine(std::sin(one.roll)) {}
    float score(std::int32_t sum) const { return scale * static_cast<float>(sum) + bias; }
  };

  State(const DetectorModel& m, const Model* v, const DetectorOptions& o) : model(&m), verifier(v) {
    m.validate();
    if (m.has_gate()) gate.emplace(m, m.gate);
    for (const DetectorTemplate& one : m.templates) templates.emplace_back(m, one);
    if (v != nullptr) aligner.emplace(*v);
    shape = {m.columns, m.rows, m.cell};
    convention = m.convention();
    candidates.reserve(kMostCandidates);
    set(o);
  }

  void set(const DetectorOptions& o) {
    o.validate();
    options = o;
    kept.reserve(static_cast<std::size_t>(o.candidates));
    const auto most = static_cast<std::size_t>(o.most);
    while (faces.size() < most + 1) {
      faces.emplace_back();
      if (verifier != nullptr) faces.back().points.resize(2, verifier->points());
    }
    order.reserve(most + 1);
  }

  image::ByteView region_of(image::ByteView grey);
  void scan(image::ByteView grey);
  void add(const Candidate& one);
  void suppress();
  bool verify(image::ByteView grey, const Candidate& one, DetectedFace& face);
  void take(image::ByteView grey);

  const DetectorModel* model;
  const Model* verifier;
  DetectorOptions options;
  WindowShape shape;
  BoxConvention convention;
  std::optional<RunTemplate> gate;
  std::vector<RunTemplate> templates;
  std::optional<Aligner> aligner;
  Pyramid pyramid;
  std::vector<std::int32_t> sums;
  std::vector<Candidate> candidates, kept;
  std::vector<DetectedFace> faces;
  std::vector<std::size_t> order;
  int left = 0, top = 0;
  Work work;
};

image::ByteView Detector::State::region_of(image::ByteView grey) {
  left = top = 0;
  const Box& box = options.region;
  if (box.width == 0 && box.height == 0) return grey;
  const auto whole = [](float v, int size) {
    return static_cast<int>(std::clamp(v, 0.0F, static_cast<float>(size)));
  };
  left = whole(std::floor(box.x), grey.width);
  top = whole(std::floor(box.y), grey.height);
  const int right = whole(std::ceil(box.x + box.width), grey.width),
            bottom = whole(std::ceil(box.y + box.height), grey.height);
  if (!(right > left && bottom > top))
    throw Error(
        formatted("detector: the region {},{} of {} x {} px, expected a part of the "
                  "picture's {} x {}",
                  box.x, box.y, box.width, box.height, grey.width, grey.height));
  return grey.crop(left, top, right - left, bottom - top);
}

void Detector::State::add(const Candidate& one) {
  if (candidates.size() == kMostCandidates) {
    // The better half stays.
    const auto middle = candidates.begin() + kMostCandidates / 2;
    std::nth_element(candidates.begin(), middle, candidates.end());
    candidates.erase(middle, candidates.end());
  }
  candidates.push_back(one);
}

void Detector::State::scan(image::ByteView grey) {
  candidates.clear();
  work = {};
  const float least = model->threshold + options.threshold;
  pyramid.start(grey, shape, options.smallest_in(grey.width, grey.height), options.largest,
                options.max_side, options.doubled);
  while (pyramid.next()) {
    const int columns = pyramid.columns(), rows = pyramid.rows();
    const auto size = static_cast<std::size_t>(columns);
    if (sums.size() < size) sums.resize(size);
    work.windows += long(columns) * rows;
    for (int y = 0; y < rows; ++y) {
      const auto try_window = [&](int x) {
        float best_score = least;
        const RunTemplate* best_template = nullptr;
        for (const RunTemplate& one : templates) {
          const float score = one.score(scan_at(pyramid.grid(), x, y, one.weights));
          if (score < best_score) continue;
          best_score = score;
          best_template = &one;
        }
        if (best_template == nullptr) return;
        Similarity place = pyramid.place(x, y);
        place.b = place.a * best_template->sine;
        place.a *= best_template->cosine;
        add({best_score, place});
      };
      if (gate) {
        scan_row(pyramid.grid(), y, gate->weights, sums);
        for (int x = 0; x < columns; ++x)
          if (gate->score(sums[static_cast<std::size_t>(x)]) >= model->gate_threshold)
            try_window(x);
      } else {
        for (int x = 0; x < columns; ++x) try_window(x);
      }
    }
  }
}

void Detector::State::suppress() {
  std::sort(candidates.begin(), candidates.end());
  kept.clear();
  const float units = shape.cell * static_cast<float>(shape.columns);
  for (const Candidate& one : candidates) {
    if (kept.size() == static_cast<std::size_t>(options.candidates)) break;
    if (std::none_of(kept.begin(), kept.end(), [&](const Candidate& other) {
          return same_window(one.place, other.place, units);
        }))
      kept.push_back(one);
  }
  work.candidates = static_cast<int>(kept.size());
}

// Gives whether there is a face.
bool Detector::State::verify(image::ByteView grey, const Candidate& one, DetectedFace& face) {
  face.place = one.place;
  face.score = 1 / (1 + std::exp(-one.score));
  if (aligner) {
    ++work.fits;
    const Alignment* fit = &aligner->align_from(grey, one.place);
    Similarity place = fit_similarity(verifier->mean, fit->points);
    const auto is_near = [&] {
      const float ratio = place.scale() / one.place.scale();
      return std::isfinite(ratio) && ratio < kSameScale && ratio * kSameScale > 1 &&
             place.scale() >= kLeastFace && std::isfinite(place.x) && std::isfinite(place.y);
    };
    // The window knows neither the turn nor quite the size: place the face by the first fit and
    // look once more.
    if (is_near() && fit->score >= std::min(kHopeless, options.min_score)) {
      fit = &aligner->follow(grey, place);
      place = fit_similarity(verifier->mean, fit->points);
    }
    if (!is_near()) return false;
    face.place = place;
    face.score = fit->score;
    face.points = fit->points;
  }
  return face.score >= options.min_score && face.place.x > 0 && face.place.y > 0 &&
         face.place.x < static_cast<float>(grey.width) &&
         face.place.y < static_cast<float>(grey.height);
}

void Detector::State::take(image::ByteView grey) {
  order.clear();
  const auto most = static_cast<std::size_t>(options.most);
  std::size_t unused = 0;  // the place where the next face is written
  for (const Candidate& one : kept) {
    const auto on_found = [&](const Similarity& place) {
      return std::find_if(order.begin(), order.end(),
                          [&](std::size_t i) { return same_face(faces[i].place, place); });
    };
    // What already sits there well is not looked for again.
    if (const auto there = on_found(one.place);
        aligner && there != order.end() && faces[*there].score >= kGood)
      continue;
    DetectedFace& face = faces[unused];
    if (!verify(grey, one, face)) continue;
    if (const auto other = on_found(face.place); other != order.end()) {
      if (face.score > faces[*other].score) std::swap(*other, unused);
      continue;
    }
    order.push_back(unused);
    if (order.size() > most) {
      const auto worst = std::min_element(order.begin(), order.end(), [&](auto a, auto b) {
        return faces[a].score < faces[b].score;
      });
      unused = *worst;
      order.erase(worst);
    } else {
      unused = order.size();  // those below are taken: swaps only exchange them
    }
  }
  // A better fit may have moved a face onto another: of those the best stays.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(-faces[a].score, a) < std::tuple(-faces[b].score, b);
  });
  const auto end = distinct(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return same_face(faces[a].place, faces[b].place);
  });
  order.erase(end, order.end());
}

Detector::Detector(const DetectorModel& model, const DetectorOptions& options)
    : state_(std::make_unique<State>(model, nullptr, options)) {}
Detector::Detector(const DetectorModel& model, const Model& verifier,
                   const DetectorOptions& options)
    : state_(std::make_unique<State>(model, &verifier, options)) {}
Detector::~Detector() = default;
Detector::Detector(Detector&&) noexcept = default;
Detector& Detector::operator=(Detector&&) noexcept = default;

const DetectorOptions& Detector::options() const { return state_->options; }
void Detector::set_options(const DetectorOptions& options) { state_->set(options); }
const Detector::Work& Detector::work() const { return state_->work; }
Index Detector::points() const { return state_->verifier ? state_->verifier->points() : 0; }

std::span<const DetectedFace> Detector::detect(image::ByteView grey) {
  State& s = *state_;
  if (grey.empty())
    throw Error(formatted("the picture is {} x {}, expected some pixels", grey.width, grey.height));
  const image::ByteView seen = s.region_of(grey);
  s.scan(seen);
  s.suppress();
  s.take(seen);
  // The faces found to the front, the largest first.
  std::vector<std::size_t>& order = s.order;
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != i) std::swap(s.faces[i], s.faces[order[i]]);
  const auto end = s.faces.begin() + static_cast<std::ptrdiff_t>(order.size());
  std::sort(s.faces.begin(), end, [](const DetectedFace& a, const DetectedFace& b) {
    return std::tuple(-a.place.scale(), a.place.x, a.place.y) <
           std::tuple(-b.place.scale(), b.place.x, b.place.y);
  });
  const BoxConvention& convention = s.convention;
  const auto x = static_cast<float>(s.left), y = static_cast<float>(s.top);
  for (auto face = s.faces.begin(); face != end; ++face) {
    face->place.x += x;
    face->place.y += y;
    if (s.aligner) face->points.colwise() += Eigen::Vector2f(x, y);
    face->box = convention.box(face->place);
    // Windows need not be square.
    const float height =
        face->box.width * static_cast<float>(s.shape.rows) / static_cast<float>(s.shape.columns);
    face->box.y += 0.5F * (face->box.height - height);
    face->box.height = height;
    face->roll = std::atan2(face->place.b, face->place.a);
  }
  return {s.faces.data(), order.size()};
}

BoxDetector box_detector(Detector detector, const BoxConvention& convention) {
  const auto shared = std::make_shared<Detector>(std::move(detector));
  return [shared, convention](image::ByteView grey) {
    std::vector<Box> boxes;
    for (const DetectedFace& face : shared->detect(grey))
      boxes.push_back(convention.box(face.place));
    return boxes;
  };
}

}  // namespace sdm::face
