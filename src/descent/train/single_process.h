#pragma once

#include "sdm/descent/train/communicator.h"

namespace sdm::detail {

/// A process alone.
class SingleProcess final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void sum_to_root(std::span<float>) override {}
  void sum_to_root(std::span<double>) override {}
  void broadcast(std::span<std::byte>) override {}
  Index maximum(Index value) override { return value; }
};

}  // namespace sdm::detail
