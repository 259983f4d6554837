#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "sdm/base/error.h"
#include "sdm/base/types.h"

namespace sdm {

/// An error that every rank has been told of, so that all of them end.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// The ranks of a distributed training, each with its own shard of the samples. Rank 0 is the root:
/// it gets the sums, solves, and tells the others. Every call is made by all ranks together.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Adds up the ranks' numbers at the root, always in the same order, so that the same number of
  /// ranks gives the same bits. What the other ranks hold afterwards is unspecified.
  virtual void sum_to_root(std::span<float> numbers) = 0;
  virtual void sum_to_root(std::span<double> numbers) = 0;

  /// Gives every rank the root's bytes.
  virtual void broadcast(std::span<std::byte> bytes) = 0;

  virtual Index maximum(Index value) = 0;
  Index minimum(Index value) { return -maximum(-value); }

  /// If any rank brings a message, every rank throws an AgreedError: its own, or "rank R: ..." of
  /// the lowest rank that has one. Without this a failed rank would leave the others waiting.
  void agree(const std::string& message);
};

}  // namespace sdm
