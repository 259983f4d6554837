// Any bytes at all: the reader gives a model or throws sdm::Error, nothing else. What it accepts
// must be reproduced by the writer, so no byte of an accepted file went unread.

#include <cstdlib>

#include "sdm/base/error.h"
#include "sdm/io/bytes.h"
#include "tests/io/seal.h"

namespace {

using namespace sdm::io;

void use(const Model& model) {
  volatile std::size_t sink = describe(model).size();
  for (const auto& [name, tensor] : model.tensors) {
    try {
      sink = sink + convert(tensor, ElementType::f64).size();
      sink = sink + static_cast<std::size_t>(model.matrix<double>(name).size());
      if (tensor.type() == ElementType::f32) quantize(tensor, ScalePer::row);
    } catch (const sdm::Error&) {  // another rank, a scale that does not fit, numbers not finite
    }
  }
}

void try_file(const std::vector<std::byte>& file) {
  try {
    const Model model = read(file);
    use(model);
    if (to_bytes(model) != file) std::abort();
  } catch (const sdm::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  try_file(file);

  // Hardly any mutated file passes a checksum: repair sizes and checksums to reach what lies
  // behind. Once with the size as it comes, once with the size that a good file would have.
  for (const std::uint64_t whole : {std::uint64_t{size}, aligned(size)}) {
    file.resize(whole);
    if (file.size() >= sizeof(Prelude))
      std::memcpy(file.data() + offsetof(Prelude, file_bytes), &whole, sizeof whole);
    seal(file);
    try_file(file);
  }
  return 0;
}
