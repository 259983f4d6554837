#include "experiments/photographs.h"

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;

const char* const kInstalled[] = {
    "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg",
    "/usr/lib/python3/dist-packages/skimage/data/astronaut.png",
    "/usr/lib/python3/dist-packages/skimage/data/brick.png",
    "/usr/lib/python3/dist-packages/skimage/data/camera.png",
    "/usr/lib/python3/dist-packages/skimage/data/coffee.png",
    "/usr/lib/python3/dist-packages/skimage/data/grass.png",
    "/usr/lib/python3/dist-packages/skimage/data/gravel.png",
};
constexpr std::size_t kPortraits = 2;

std::vector<fs::path> first(std::size_t count) {
  std::vector<fs::path> found;
  for (std::size_t i = 0; i < count; ++i)
    if (fs::exists(kInstalled[i])) found.emplace_back(kInstalled[i]);
  return found;
}

}  // namespace

std::vector<fs::path> installed_photographs() { return first(std::size(kInstalled)); }
std::vector<fs::path> installed_portraits() { return first(kPortraits); }

}  // namespace sdm::experiments
