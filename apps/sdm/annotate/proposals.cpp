#include "apps/sdm/annotate/proposals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "apps/sdm/annotations.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/read_pictures.h"
#include "sdm/face/train/choose_options.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

constexpr std::size_t kMostToLearnFrom = 600;  // so that learning stays a matter of a minute
constexpr int kStarts = 7;

struct Stopped {};

face::Box whole_of(image::ByteView grey) {
  return {0, 0, static_cast<float>(grey.width), static_cast<float>(grey.height)};
}

float median(std::array<float, kStarts> values) {
  std::nth_element(values.begin(), values.begin() + kStarts / 2, values.end());
  return values[kStarts / 2];
}

// Enough of its points to learn from (trainer.h).
bool is_whole_enough(const face::Annotation& face) {
  const Index known = face.points.array().isFinite().colwise().all().count();
  return known >= 2 && 4 * known >= face.points.cols() &&
         !face::bounds(face.points).sizes().isZero(0);
}

std::vector<face::Annotation> some_of(std::vector<face::Annotation> faces, std::uint64_t seed) {
  std::erase_if(faces, [](const face::Annotation& face) { return !is_whole_enough(face); });
  Random random(seed, "faces to propose from");
  if (faces.size() > kMostToLearnFrom) {
    shuffle(faces, random);
    faces.resize(kMostToLearnFrom);
  }
  return faces;
}

}  // namespace

Proposals::Proposals(const Album& album, const ProposalOptions& options)
    : album_(album), options_(options) {
  if (options_.threads == 0)
    options_.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
  woken_ = true;
  if (options_.after > 0) thread_ = std::thread([this] { work(); });
}

Proposals::~Proposals() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Proposals::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_all();
}

bool Proposals::stopping() const {
  const std::lock_guard lock(mutex_);
  return ending_;
}

std::optional<Proposal> Proposals::of(std::size_t picture) const {
  const std::lock_guard lock(mutex_);
  const auto found = proposals_.find(picture);
  return found == proposals_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Proposal> Proposals::in(std::size_t picture, const face::Box& box) const {
  std::shared_ptr<const Learned> learned;
  {
    const std::lock_guard lock(mutex_);
    learned = learned_;
  }
  if (!learned || !learned->from_boxes) return std::nullopt;
  return propose(*learned, opencv::read_grey(album_.path(picture)), box);
}

std::map<std::size_t, double> Proposals::doubts() const {
  const std::lock_guard lock(mutex_);
  std::map<std::size_t, double> doubts;
  for (const auto& [picture, proposal] : proposals_) doubts.emplace(picture, proposal.doubt);
  return doubts;
}

Proposals::Status Proposals::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool Proposals::is_due(std::size_t done) const {
  return done >= options_.after && (tried_with_ == 0 || 2 * done >= 3 * tried_with_);
}

void Proposals::work() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return woken_ || ending_; });
      if (ending_) return;
      woken_ = false;
    }
    try {
      while (is_due(album_.done_with_objects())) learn();
      look_around();
    } catch (const Stopped&) {
      return;
    }
  }
}

void Proposals::learn() {
  tried_with_ = album_.done_with_objects();
  {
    const std::lock_guard lock(mutex_);
    status_.learning = true;
  }
  std::string message;
  try {
    const face::Annotations all = album_.finished();
    const std::vector<face::Annotation> chosen = some_of(all.faces, options_.seed);
    const auto boxed = std::count_if(chosen.begin(), chosen.end(),
                                     [](const face::Annotation& face) { return !!face.box; });
    auto learned = std::make_shared<Learned>();
    // A box made from the points would tell where they are.
    learned->from_boxes =
        !album_.derives_boxes() && 2 * static_cast<std::size_t>(boxed) > chosen.size();

    face::Recipe recipe;
    recipe.unit = face::kFinestUnit;
    std::vector<face::TrainingFace> faces(chosen.size());
    std::vector<std::filesystem::path> files;
    for (const face::Annotation& face : chosen) files.push_back(all.path(face));
    ThreadPool pool(options_.threads);
    face::PictureWork work;
    work.in_parallel = [&](std::size_t i, image::ByteView grey, int) {
      const face::Box box =
          learned->from_boxes ? chosen[i].box.value_or(face::Box{}) : whole_of(grey);
      faces[i] = face::trim(grey, chosen[i].points, {box}, recipe, !learned->from_boxes);
    };
    work.progress = [&](double) {
      if (stopping()) throw Stopped();
    };
    const std::vector<std::string> failures =
        face::read_pictures(files, opencv::read_grey, pool, work);
    std::vector<face::TrainingFace> good;
    double pixels = 0;  // a unit of them in the pictures, summed up
    for (std::size_t i = 0; i < faces.size(); ++i) {
      if (!failures[i].empty()) continue;
      pixels += 0.5 * static_cast<double>(face::bounds(chosen[i].points).diagonal().norm());
      good.push_back(std::move(faces[i]));
    }
    if (good.size() < 4) throw Error("too few pictures can be read");

    face::TrainerOptions given;
    const face::Markup markup = markup_of(all);
    given.mirror = markup.mirror;
    given.unit = markup.unit;
    given.detectors = {learned->from_boxes ? "box" : face::kWholePicture};
    given.seed = options_.seed;
    given.threads = options_.threads;
    face::ChoiceOptions choosing;
    choosing.seconds = options_.budget;
    choosing.tried = [&](const face::TriedOptions&) {
      if (stopping()) throw Stopped();
    };
    const face::Choice choice = face::choose_options(good, given, choosing);
    face::TrainerObserver observer;
    observer.progress = [&](const TrainProgress&) {
      if (stopping()) throw Stopped();
    };
    face::TrainedFace trained = face::train(good, {}, choice.options, observer);
    learned->model = std::move(trained.model);
    const std::lock_guard lock(mutex_);
    learned_ = learned;
    looked_at_.assign(album_.size(), false);
    status_.learned_from = good.size();
    status_.from_boxes = learned->from_boxes;
    status_.error = choice.error * pixels / static_cast<double>(good.size());
  } catch (const std::exception& error) {  // no memory, too: the page goes on without
    message = error.what();
  }
  const std::lock_guard lock(mutex_);
  status_.learning = false;
  status_.message = message;
}

Proposal Proposals::propose(const Learned& learned, image::ByteView grey,
                            const face::Box& box) const {
  const face::BoxConvention& convention = learned.model.boxes.front();
  const face::Similarity at = convention.similarity(box);
  face::Aligner aligner(learned.model);
  std::array<face::Shape, kStarts> answers;
  Random random(options_.seed, "starts of a proposal");
  for (int k = 0; k < kStarts; ++k) {
    if (k == 0) {
      answers[0] = aligner.align(grey, box).points;
      continue;
    }
    const auto normal = [&](float deviation) {
      return deviation * static_cast<float>(random.normal());
    };
    face::Similarity start = at;
    start.x += at.scale() * normal(convention.sigma_x);
    start.y += at.scale() * normal(convention.sigma_y);
    start.a *= std::exp(normal(convention.sigma_log_scale));
    answers[static_cast<std::size_t>(k)] = aligner.align_from(grey, start).points;
  }
  Proposal proposal;
  proposal.points = answers[0];
  for (Index i = 0; i < proposal.points.size(); ++i) {
    std::array<float, kStarts> values{};
    for (std::size_t k = 0; k < kStarts; ++k) values[k] = answers[k].data()[i];
    proposal.points.data()[i] = median(values);
  }
  for (const face::Shape& answer : answers)
    proposal.doubt += face::mean_distance(answer, proposal.points) / kStarts;
  const auto unit =
      static_cast<double>(face::fit_similarity(learned.model.mean, proposal.points).scale());
  proposal.doubt /= std::max(unit, 1e-3);
  return proposal;
}

void Proposals::look_around() {
  std::shared_ptr<const Learned> learned;
  {
    const std::lock_guard lock(mutex_);
    learned = learned_;
    if (!learned || learned->from_boxes) return;
  }
  std::vector<std::size_t> order(album_.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  Random random(options_.seed, "pictures to look at");
  shuffle(order, random);  // the first few already tell what is hard
  for (const std::size_t picture : order) {
    if (is_due(album_.done_with_objects())) {  // what is seen meanwhile will be better
      wake();
      return;
    }
    if (looked_at_[picture] || album_.is_begun(picture)) continue;
    if (stopping()) throw Stopped();
    looked_at_[picture] = true;
    try {
      const image::Image<std::uint8_t> grey = opencv::read_grey(album_.path(picture));
      const Proposal proposal = propose(*learned, grey, whole_of(grey));
      const std::lock_guard lock(mutex_);
      proposals_[picture] = proposal;
    } catch (const std::exception&) {
      // Whoever opens the picture is told.
    }
  }
}

}  // namespace sdm::app
