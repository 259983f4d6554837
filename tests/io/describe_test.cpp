#include <gmock/gmock.h>

#include "tests/io/expect_error.h"
#include "tests/io/sample.h"

namespace sdm::io {
namespace {

using testing::HasSubstr;

TEST(Describe, TellsKindSizesOriginAndTensors) {
  const std::string text = describe(sample_model());
  EXPECT_THAT(text, HasSubstr("A cascade model: 10 tensors, 137 bytes."));
  EXPECT_THAT(text, HasSubstr("provenance: made by hand\n"));
  EXPECT_THAT(text, HasSubstr("licence: CC0-1.0\n"));
  EXPECT_THAT(text, HasSubstr("stages: 2\n"));
  EXPECT_THAT(text, HasSubstr("deep:\n    a: 1, 2.5\n"));
  EXPECT_THAT(text, HasSubstr("  f64      f64  3 x 2, 48 bytes\n"));
  EXPECT_THAT(text, HasSubstr("  number   f64  one number, 8 bytes\n"));
}

TEST(Describe, SaysWhenOriginOrLicenceAreMissing) {
  Model model;
  model.kind = "pose";
  const std::string text = describe(model);
  EXPECT_THAT(text, HasSubstr("provenance: not stated"));
  EXPECT_THAT(text, HasSubstr("licence: not stated"));
}

TEST(Describe, ShortensLongLists) {
  Model model;
  model.kind = "face";
  model.header =
      R"({"names": ["a","b","c","d","e","f","g","h"], "none": [], "nested": [[1,2],{"x":1}]})";
  const std::string text = describe(model);
  EXPECT_THAT(text, HasSubstr("names: a, b, c, d, e, f, ... (8 in all)"));
  EXPECT_THAT(text, HasSubstr("none: none"));
  EXPECT_THAT(text, HasSubstr("nested: (2 values), (1 fields)"));
}

TEST(Describe, LetsNoControlCharacterThrough) {
  Model model;
  model.kind = "face";
  model.header = "{\"a\\u001b[2J\": \"b\\u009b\\u0007\\u00e9\\n\"}";
  const std::string text = describe(model);
  EXPECT_THAT(text, HasSubstr("a?[2J: b??\xC3\xA9?\n"));
}

TEST(Describe, RefusesABrokenHeader) {
  Model model;
  model.kind = "face";
  model.header = "{";
  expect_error([&] { describe(model); }, "not a JSON object");
}

}  // namespace
}  // namespace sdm::io
