// Writes the files that the fuzzer starts from into the folder given.

#include <filesystem>

#include "sdm/io/file.h"
#include "tests/io/sample.h"

int main(int, char** arguments) {
  using namespace sdm::io;
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  const Model all = sample_model();
  write(folder / "all.sdm", all);

  Model nothing;
  nothing.kind = "x";
  write(folder / "nothing.sdm", nothing);

  // One file for each tensor: small files let the fuzzer get to every field soon.
  for (const auto& [name, tensor] : all.tensors) {
    Model one;
    one.kind = "pose";
    one.put(name, tensor);
    write(folder / (name + ".sdm"), one);
  }

  Model quantised;
  quantised.kind = "face";
  quantised.header =
      R"({"names": ["a", "b"], "box": {"centre": [0.5, -1e3], "flip": true, "none": null}})";
  quantised.put_i8("R", all.tensor("f32"), ScalePer::row);
  write(folder / "quantised.sdm", quantised);
}
