// Writes a good model of every kind for fuzz_run to start from.
// usage: fuzz_run_seeds FOLDER

#include <filesystem>

#include "sdm/io/file.h"
#include "tests/fuzz/small_models.h"

int main(int, char** arguments) {
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  for (const auto& [name, model] : sdm::fuzz::small_models())
    sdm::io::write(folder / (name + ".sdm"), model);
}
