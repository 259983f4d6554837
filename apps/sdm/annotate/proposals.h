#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/sdm/annotate/album.h"
#include "sdm/face/model.h"

namespace sdm::app {

/// Where a model that has seen the finished pictures puts the points of another one.
struct Proposal {
  face::Shape points;
  /// How far the answers from several starts lie apart, in units: large where it is not sure.
  double doubt = 0;
};

struct ProposalOptions {
  std::size_t after = 10;  // finished pictures; 0: never
  double budget = 15;      // seconds of one core to choose the recipe in
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores but one
};

/// Learns from an album's finished pictures in the background, again when there are half as many
/// more, and then looks at the others. Thread-safe.
class Proposals {
 public:
  Proposals(const Album& album, const ProposalOptions& options);
  ~Proposals();
  Proposals(const Proposals&) = delete;
  Proposals& operator=(const Proposals&) = delete;

  /// To be told when pictures were finished.
  void wake();

  std::optional<Proposal> of(std::size_t picture) const;
  /// The same for an object in this box, now: where models learn from boxes that were drawn.
  std::optional<Proposal> in(std::size_t picture, const face::Box& box) const;

  /// How doubtful each picture is that was looked at.
  std::map<std::size_t, double> doubts() const;

  struct Status {
    bool learning = false;
    std::size_t learned_from = 0;  // pictures, of the model that proposes
    double error = 0;              // held out, pixels; 0 without a model
    bool from_boxes = false;       // it proposes in boxes that are drawn
    std::string message{};         // what the last training failed with
  };
  Status status() const;

 private:
  struct Learned {
    face::Model model;
    bool from_boxes = false;
  };
  void work();
  bool is_due(std::size_t done) const;
  void learn();
  void look_around();
  Proposal propose(const Learned& learned, image::ByteView grey, const face::Box& box) const;
  bool stopping() const;

  const Album& album_;
  ProposalOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false, woken_ = false;
  std::shared_ptr<const Learned> learned_;
  std::map<std::size_t, Proposal> proposals_;
  // The thread's own: finished pictures at the last training, and what its model has looked at.
  std::size_t tried_with_ = 0;
  std::vector<bool> looked_at_;
  Status status_;
  std::thread thread_;
};

}  // namespace sdm::app
