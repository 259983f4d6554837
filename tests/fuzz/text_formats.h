#pragma once

#include <string>
#include <vector>

namespace sdm::fuzz {

/// A text that we read: how its file is called, and good ones to start from.
struct TextFormat {
  std::string file;
  std::vector<std::string> examples;
};

/// The first byte of an input of fuzz_text chooses among these.
const std::vector<TextFormat>& text_formats();

}  // namespace sdm::fuzz
