#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sdm/base/thread_pool.h"
#include "sdm/image/image_view.h"

namespace sdm::face {

/// Gives the picture of a file as grey, or throws saying why it cannot. Called from several threads
/// at once.
using PictureReader = std::function<image::Image<std::uint8_t>(const std::filesystem::path& path)>;

/// What is done with each picture. Empty calls are left out.
struct PictureWork {
  /// In the pool's threads, in no order; `worker` is the thread's number. What it throws is the
  /// picture's failure.
  std::function<void(std::size_t picture, image::ByteView grey, int worker)> in_parallel{};
  /// In the thread that called, in order, while the pool rests: for what is timed. A picture that
  /// failed is empty.
  std::function<void(std::size_t picture, image::ByteView grey)> in_order{};
  /// How far it is, 0 to 1; never two calls at once.
  std::function<void(double share)> progress{};
};

/// Reads the files with all threads of the pool, a bounded number of pictures in memory at a time,
/// and goes on after failures. Gives what went wrong with each file, in the words of what was
/// thrown; empty where nothing did. What `in_order` and `progress` throw goes to the caller.
std::vector<std::string> read_pictures(const std::vector<std::filesystem::path>& files,
                                       const PictureReader& read, ThreadPool& pool,
                                       const PictureWork& work);

}  // namespace sdm::face
