#include "sdm/face/data/read_pictures.h"

#include <algorithm>
#include <exception>
#include <mutex>

namespace sdm::face {

std::vector<std::string> read_pictures(const std::vector<std::filesystem::path>& files,
                                       const PictureReader& read, ThreadPool& pool,
                                       const PictureWork& work) {
  const std::size_t count = files.size(), batch = 128;
  std::vector<std::string> failures(count);
  std::mutex mutex;
  std::size_t done = 0;
  for (std::size_t first = 0; first < count; first += batch) {
    const std::size_t size = std::min(batch, count - first);
    std::vector<image::Image<std::uint8_t>> pictures(size);
    pool.run(Index(size), [&](Index offset, int worker) {
      const std::size_t i = first + std::size_t(offset);
      try {
        image::Image<std::uint8_t> picture = read(files[i]);
        if (work.in_parallel) work.in_parallel(i, picture, worker);
        if (work.in_order) pictures[std::size_t(offset)] = std::move(picture);
      } catch (const std::exception& error) {
        failures[i] = error.what();
      }
      const std::lock_guard lock(mutex);
      if (work.progress) work.progress(double(++done) / double(count));
    });
    for (std::size_t k = 0; work.in_order && k < size; ++k) work.in_order(first + k, pictures[k]);
  }
  return failures;
}

}  // namespace sdm::face
