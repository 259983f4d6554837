#include "apps/sdm/annotate/marks.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/sdm/annotate/json_values.h"
#include "sdm/base/error.h"

namespace sdm::app {
namespace {

using nlohmann::json;

constexpr float kFarthest = 1e6F;  // pixels, as annotation files may have
constexpr std::size_t kMostObjects = 1000;
constexpr std::int64_t kLastRevision = std::int64_t{1} << 53;  // what a page counts exactly

// In place of nlohmann's exceptions, which name our code.
json object_in(std::string_view text) {
  json value = json::parse(text, nullptr, false);
  if (!value.is_object()) throw Error("expected an object of JSON");
  return value;
}

const json& member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(fmt::format("there is no '{}'", name));
  return *found;
}

float pixels_of(const json& value, const char* what) {
  const auto number = to_number<double>(value, what);
  if (std::abs(number) > double{kFarthest})
    throw Error(fmt::format("{} is {}, expected at most {} pixels", what, number, kFarthest));
  return static_cast<float>(number);
}

Mark mark_of(const json& value) {
  if (value.is_null()) return {};
  if (value == "hidden") return {Mark::State::hidden, 0, 0};
  if (!value.is_array() || value.size() != 2)
    throw Error("a point is no [x, y], \"hidden\" or null");
  return {Mark::State::placed, pixels_of(value[0], "x"), pixels_of(value[1], "y")};
}

face::Box box_of(const json& value) {
  if (!value.is_array() || value.size() != 4) throw Error("a box is no [x, y, w, h]");
  const face::Box box{pixels_of(value[0], "a box's x"), pixels_of(value[1], "a box's y"),
                      pixels_of(value[2], "a box's width"), pixels_of(value[3], "a box's height")};
  if (!(box.width > 0) || !(box.height > 0)) throw Error("a box has no size");
  return box;
}

MarkedObject object_of(const json& value, std::size_t points) {
  if (!value.is_object() || !value.contains("points") || !value["points"].is_array())
    throw Error("an object has no list of points");
  if (value["points"].size() != points)
    throw Error(
        fmt::format("an object has {} points, expected {}", value["points"].size(), points));
  MarkedObject object;
  for (const json& point : value["points"]) object.marks.push_back(mark_of(point));
  if (value.contains("box") && !value["box"].is_null()) object.box = box_of(value["box"]);
  if (value.contains("group")) {
    if (!value["group"].is_string()) throw Error("a group is no text");
    object.group = value["group"].get<std::string>();
  }
  if (value.contains("scale")) object.scale = to_number<double>(value["scale"], "scale");
  return object;
}

// All but the file.
MarkedPicture picture_of(const json& value, std::size_t points) {
  MarkedPicture picture;
  picture.revision = to_number<std::int64_t>(member(value, "revision"), "revision");
  if (picture.revision < 0 || picture.revision >= kLastRevision)
    throw Error(
        fmt::format("revision {}, expected 0 or more, below {}", picture.revision, kLastRevision));
  const json& done = member(value, "done");
  if (!done.is_boolean()) throw Error("'done' is neither true nor false");
  picture.done = done.get<bool>();
  const json& objects = member(value, "objects");
  if (!objects.is_array()) throw Error("'objects' is no list");
  if (objects.size() > kMostObjects)
    throw Error(fmt::format("{} objects, expected at most {}", objects.size(), kMostObjects));
  for (const json& object : objects) picture.objects.push_back(object_of(object, points));
  return picture;
}

json json_of(const MarkedObject& object) {
  json points = json::array();
  for (const Mark& mark : object.marks) {
    if (mark.state == Mark::State::placed)
      points.push_back({mark.x, mark.y});
    else
      points.push_back(mark.state == Mark::State::hidden ? json("hidden") : json());
  }
  json result{{"points", std::move(points)}, {"box", nullptr}};
  if (object.box)
    result["box"] = {object.box->x, object.box->y, object.box->width, object.box->height};
  if (!object.group.empty()) result["group"] = object.group;
  if (object.scale > 0) result["scale"] = object.scale;
  return result;
}

}  // namespace

json to_json(const MarkedPicture& picture) {
  json objects = json::array();
  for (const MarkedObject& object : picture.objects) objects.push_back(json_of(object));
  return {{"file", picture.file},
          {"revision", picture.revision},
          {"done", picture.done},
          {"objects", std::move(objects)}};
}

MarkedPicture read_picture(std::string_view text, std::size_t points) {
  const json line = object_in(text);
  MarkedPicture picture = picture_of(line, points);
  const json& file = member(line, "file");
  if (!file.is_string()) throw Error("'file' is no text");
  picture.file = file.get<std::string>();
  return picture;
}

std::string journal_points(const std::vector<std::string>& names) {
  return json_text(json{{"points", names}});
}

std::vector<std::string> read_journal_points(std::string_view text) {
  const json first = json::parse(text, nullptr, false);
  std::vector<std::string> names;
  if (first.is_object() && first.contains("points") && first["points"].is_array())
    for (const json& name : first["points"])
      if (name.is_string()) names.push_back(name.get<std::string>());
  if (names.empty() || names.size() != first["points"].size())
    throw Error("not a journal of sdm annotate");
  return names;
}

SentMarks read_sent_marks(std::string_view text, std::size_t points) {
  const json body = object_in(text);
  SentMarks sent{picture_of(body, points)};
  if (body.contains("seconds")) sent.seconds = to_number<double>(body["seconds"], "seconds");
  return sent;
}

face::Box read_sent_box(std::string_view text) {
  const json body = object_in(text);
  return box_of(member(body, "box"));
}

}  // namespace sdm::app
