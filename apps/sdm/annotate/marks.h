#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdm/face/shape.h"

// What a person marks, and how it is written in requests and in the journal. Both may come from
// anybody: whatever does not fit is refused with Error.
namespace sdm::app {

/// A point as a person marks it.
struct Mark {
  enum class State : std::uint8_t { open, placed, hidden };
  State state = State::open;
  float x = 0, y = 0;
};

/// What is marked of one object. A group and a scale are kept as an annotation file had them.
struct MarkedObject {
  std::vector<Mark> marks;
  std::optional<face::Box> box;
  std::string group{};
  double scale = 0;
};

/// What is marked in a picture. Each change has a number, so that who changes an older state than
/// the last one is told.
struct MarkedPicture {
  std::string file;  // relative to the folder
  std::int64_t revision = 0;
  bool done = false;
  std::vector<MarkedObject> objects{};
};

/// Written as {"file", "revision", "done", "objects": [{"points": [[x, y], "hidden", null], "box":
/// [x, y, w, h]}]}.
nlohmann::json to_json(const MarkedPicture& picture);
/// The opposite, of a line of the journal; `points` is how many every object has.
MarkedPicture read_picture(std::string_view text, std::size_t points);

/// The first line of a journal, {"points": [NAME, ...]}.
std::string journal_points(const std::vector<std::string>& names);
std::vector<std::string> read_journal_points(std::string_view text);

/// What a page sends of a picture: all but its file, and how long the person took for it.
struct SentMarks {
  MarkedPicture picture{};
  double seconds = 0;
};
SentMarks read_sent_marks(std::string_view text, std::size_t points);
/// {"box": [x, y, w, h]}.
face::Box read_sent_box(std::string_view text);

}  // namespace sdm::app
