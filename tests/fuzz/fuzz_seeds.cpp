// Writes what fuzz_run and fuzz_text start from into folders of their names.
// usage: fuzz_seeds FOLDER

#include <filesystem>

#include "sdm/io/file.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/text_formats.h"

namespace fs = std::filesystem;

int main(int, char** arguments) {
  const fs::path folder = arguments[1];
  fs::create_directories(folder / "fuzz_run");
  for (const auto& [name, model] : sdm::fuzz::small_models())
    sdm::io::write(folder / "fuzz_run" / (name + ".sdm"), model);
  fs::create_directories(folder / "fuzz_text");
  const auto& formats = sdm::fuzz::text_formats();
  for (std::size_t i = 0; i < formats.size(); ++i)
    for (std::size_t k = 0; k < formats[i].examples.size(); ++k)
      sdm::io::write_text(folder / "fuzz_text" / (std::to_string(k) + formats[i].file),
                          std::string(1, static_cast<char>(i)) + formats[i].examples[k]);
}
