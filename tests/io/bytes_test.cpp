#include "sdm/io/bytes.h"

#include <algorithm>

#include "io/format.h"
#include "tests/io/expect_error.h"
#include "tests/io/sample.h"

namespace sdm::io {
namespace {

TEST(Bytes, GiveBackTheModel) {
  const Model model = sample_model();
  EXPECT_EQ(read(to_bytes(model)), model);
}

TEST(Bytes, GiveBackAModelOfNothing) {
  Model model;
  model.kind = "x";
  EXPECT_EQ(read(to_bytes(model)), model);
}

TEST(Bytes, AreTheSameForTheSameModel) {
  // Put in another order, from other memory.
  Model again;
  const Model model = sample_model();
  again.kind = model.kind;
  again.header = model.header;
  for (auto it = model.tensors.rbegin(); it != model.tensors.rend(); ++it)
    again.put(it->first, it->second.clone());
  EXPECT_EQ(to_bytes(again), to_bytes(model));
}

TEST(Bytes, CanBeViewedWithoutACopy) {
  const auto file = to_bytes(sample_model());
  const auto memory = allocate(file.size());
  std::copy(file.begin(), file.end(), memory.get());
  const Model model = view({memory.get(), file.size()});
  EXPECT_EQ(model, sample_model());
  for (const auto& [name, tensor] : model.tensors) {
    EXPECT_GE(tensor.bytes().data(), memory.get());
    EXPECT_EQ(static_cast<std::size_t>(tensor.bytes().data() - memory.get()) % alignment, 0u);
  }
}

TEST(Bytes, CanBeReadButNotViewedFromAnUnalignedAddress) {
  const auto file = to_bytes(sample_model());
  const auto memory = allocate(file.size() + 1);
  std::copy(file.begin(), file.end(), memory.get() + 1);
  const std::span<const std::byte> unaligned(memory.get() + 1, file.size());
  EXPECT_EQ(read(unaligned), sample_model());
  expect_error([&] { view(unaligned); }, "not a multiple of 64");
}

TEST(Bytes, RefuseAModelThatCouldNotBeReadAgain) {
  const auto refuse = [](auto change, const char* part) {
    Model model = sample_model();
    change(model);
    expect_error([&] { to_bytes(model); }, part);
  };
  refuse([](Model& m) { m.kind = ""; }, "kind has 0 characters");
  refuse([](Model& m) { m.kind = "Face"; }, "expected 1 to 16 of a-z");
  refuse([](Model& m) { m.kind = "seventeen-letters"; }, "kind has 17 characters");
  refuse([](Model& m) { m.header = "{"; }, "JSON header is broken at byte 2");
  refuse([](Model& m) { m.header = "[]"; }, "not an object");
  refuse([](Model& m) { m.header = "{\"a\": 1e999}"; }, "number that does not fit a double");
  refuse([](Model& m) { m.header = ""; }, "JSON header is broken");
  refuse([](Model& m) { m.header = std::string("{\"a\": \"") + '\xff' + "\"}"; },
         "JSON header is broken");
  refuse(
      [](Model& m) { m.header = "{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}"; },
      "nests deeper than 64");
  refuse([](Model& m) { m.header = "{\"a\":\"" + std::string(5 << 20, 'x') + "\"}"; },
         "at most 4194304");
  refuse([](Model& m) { m.put("", Tensor()); }, "has 0 characters");
  refuse([](Model& m) { m.put(std::string(256, 'a'), Tensor()); }, "has 256 characters");
  refuse([](Model& m) { m.put("a\x1b[", Tensor()); }, "holds byte 0x1b");
  refuse([](Model& m) { m.put("r", to_tensor(std::span<const float>(), Shape(9, 0))); },
         "rank 9, at most 8");
}

}  // namespace
}  // namespace sdm::io
