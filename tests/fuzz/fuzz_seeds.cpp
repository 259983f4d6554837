// Writes good files for the fuzzers of model files and texts into folders of their names.
// usage: fuzz_seeds FOLDER

#include <filesystem>

#include "sdm/io/file.h"
#include "tests/fuzz/text_formats.h"
#include "tests/io/sample.h"

namespace {

namespace fs = std::filesystem;
using namespace sdm;

fs::path made(const fs::path& folder) {
  fs::create_directories(folder);
  return folder;
}

void write_model_seeds(const fs::path& folder) {
  const io::Model all = io::sample_model();
  io::write(folder / "all.sdm", all);

  io::Model nothing;
  nothing.kind = "x";
  io::write(folder / "nothing.sdm", nothing);

  // One file for each tensor: small files let the fuzzer get to every field soon.
  for (const auto& [name, tensor] : all.tensors) {
    io::Model one;
    one.kind = "pose";
    one.put(name, tensor);
    io::write(folder / (name + ".sdm"), one);
  }

  io::Model quantised;
  quantised.kind = "face";
  quantised.header =
      R"({"names": ["a", "b"], "box": {"centre": [0.5, -1e3], "flip": true, "none": null}})";
  quantised.put_i8("R", all.tensor("f32"), io::ScalePer::row);
  io::write(folder / "quantised.sdm", quantised);
}

void write_text_seeds(const fs::path& folder) {
  const auto& formats = fuzz::text_formats();
  for (std::size_t i = 0; i < formats.size(); ++i)
    for (std::size_t k = 0; k < formats[i].examples.size(); ++k)
      io::write_text(folder / (std::to_string(k) + formats[i].file),
                     std::string(1, static_cast<char>(i)) + formats[i].examples[k]);
}

}  // namespace

int main(int, char** arguments) {
  const fs::path folder = arguments[1];
  write_model_seeds(made(folder / "fuzz_model"));
  write_text_seeds(made(folder / "fuzz_text"));
}
