#pragma once

#include <string>

#include "sdm/io/model.h"

namespace sdm::io {

/// A small model with every element type, an empty tensor and a single number.
inline Model sample_model() {
  Model model;
  model.kind = "cascade";
  model.header =
      R"({"provenance": "made by hand", "licence": "CC0-1.0", "stages": 2, "deep": {"a": [1, 2.5]}})";
  Matrix<double> m(3, 2);
  m << 1, -2, 0.5, 4, -0.25, 8;
  model.put("f64", to_tensor(m));
  model.put("f32", to_tensor(m.cast<float>()));
  model.put_f16("f16", to_tensor(m));
  model.put_i8("q", to_tensor(m), ScalePer::column);
  model.put("i32", to_tensor(std::vector<std::int32_t>{7, -7, 1 << 30}));
  model.put("i64", to_tensor(std::vector<std::int64_t>{-1, std::int64_t{1} << 40}));
  model.put("u8", to_tensor(std::vector<std::uint8_t>{0, 128, 255}));
  model.put("empty", to_tensor(std::span<const float>(), {0, 5}));
  const double one = 3.5;
  model.put("number", to_tensor(std::span<const double>(&one, 1), {}));
  return model;
}

}  // namespace sdm::io
