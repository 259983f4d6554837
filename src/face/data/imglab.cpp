// dlib's imglab XML. Only what that tool writes matters here: elements and attributes. Text between
// tags (names, comments, labels) is passed over.

#include <algorithm>
#include <cmath>
#include <map>

#include "base/formatted.h"
#include "face/data/readers.h"

namespace sdm::face {
namespace {

struct Tag {
  std::string name;
  bool closes = false;  // </name>, or <name/>
  bool opens = false;   // <name>, or <name/>
  std::map<std::string, std::string> attributes;
  std::size_t line = 0;
};

std::string decoded(std::string_view text) {
  static const std::map<std::string_view, char> entities{
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  std::string result;
  while (!text.empty()) {
    constexpr std::size_t longest = 6;  // &quot;
    const std::size_t end =
        text.front() == '&' ? text.substr(0, longest).find(';') : std::string_view::npos;
    const auto entity =
        end == std::string_view::npos ? entities.end() : entities.find(text.substr(1, end - 1));
    result += entity == entities.end() ? text.front() : entity->second;
    text.remove_prefix(entity == entities.end() ? 1 : end + 1);
  }
  return result;
}

class TagReader {
 public:
  explicit TagReader(const TextLines& file) : file_(file), rest_(file.text) {}

  /// The next tag; false at the end of the file.
  bool next(Tag& tag) {
    while (true) {
      if (rest_.find('<') == std::string_view::npos) return false;
      take_to("<");
      if (rest_.starts_with("!--")) {
        take_to("-->");
      } else if (rest_.starts_with('?') || rest_.starts_with('!')) {
        take_to(">");
      } else {
        break;
      }
    }
    tag = {};
    tag.line = line_;
    tag.closes = rest_.starts_with('/');
    tag.opens = !tag.closes;
    if (tag.closes) rest_.remove_prefix(1);
    tag.name = take_word();
    while (true) {
      skip_blanks();
      if (rest_.starts_with('>')) break;
      if (rest_.starts_with("/>")) {
        tag.closes = true;
        break;
      }
      const std::string name = take_word();
      skip_blanks();
      if (name.empty() || !rest_.starts_with('=')) broken();
      rest_.remove_prefix(1);
      skip_blanks();
      if (!rest_.starts_with('"') && !rest_.starts_with('\'')) broken();
      const char quote = rest_.front();
      rest_.remove_prefix(1);
      tag.attributes[name] = decoded(take_to(std::string_view(&quote, 1)));
    }
    take_to(">");
    return true;
  }

 private:
  [[noreturn]] void broken() const { file_.fail(line_, "not well-formed XML"); }

  // What comes before `mark`, passing over both.
  std::string_view take_to(std::string_view mark) {
    const std::size_t end = rest_.find(mark);
    if (end == std::string_view::npos) broken();
    const std::string_view taken = rest_.substr(0, end);
    line_ += std::size_t(std::count(taken.begin(), taken.end(), '\n'));
    rest_.remove_prefix(end + mark.size());
    return taken;
  }
  std::string take_word() {
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n=/>\"'<"), rest_.size());
    std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return word;
  }
  void skip_blanks() {
    while (!rest_.empty() &&
           std::string_view(" \t\r\n").find(rest_.front()) != std::string_view::npos) {
      if (rest_.front() == '\n') ++line_;
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) broken();
  }

  const TextLines& file_;
  std::string_view rest_;
  std::size_t line_ = 0;
};

const std::string& attribute(const Tag& tag, const std::string& name) {
  const auto found = tag.attributes.find(name);
  if (found == tag.attributes.end())
    throw Error(formatted("a {} without the attribute '{}'", tag.name, name));
  return found->second;
}

float number(const Tag& tag, const std::string& name) {
  return float(to_pixels(attribute(tag, name)));
}

using Parts = std::map<std::string, Eigen::Vector2f>;

bool is_number(const std::string& name) {
  return !name.empty() && name.size() < 7 &&
         name.find_first_not_of("0123456789") == std::string::npos;
}

// Tags that are open, to be closed in the opposite order.
class OpenTags {
 public:
  explicit OpenTags(const TextLines& file) : file_(file) {}

  void see(const Tag& tag) {
    if (tag.opens && !tag.closes) open_.push_back({tag.name, tag.line});
    if (tag.opens || !tag.closes) return;
    if (open_.empty()) file_.fail(tag.line, formatted("</{}> closes nothing", tag.name));
    if (open_.back().name != tag.name)
      file_.fail(tag.line, formatted("</{}>, expected </{}> for line {}", tag.name,
                                     open_.back().name, open_.back().line + 1));
    open_.pop_back();
  }
  void end() const {
    if (!open_.empty())
      file_.fail(open_.back().line, formatted("<{}> is not closed", open_.back().name));
  }

 private:
  struct Open {
    std::string name;
    std::size_t line;
  };
  const TextLines& file_;
  std::vector<Open> open_;
};

// Which point each name of a part is, and whether all names are numbers.
std::map<std::string, int> numbered(const std::vector<Parts>& parts, bool& numbers) {
  std::map<std::string, int> ids;
  numbers = true;
  for (const Parts& face : parts)
    for (const auto& [name, point] : face) {
      ids[name] = 0;
      numbers = numbers && is_number(name);
    }
  int position = 0;
  for (auto& [name, id] : ids) id = numbers ? std::stoi(name) : position++;
  return ids;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '\'') {
      result += "&apos;";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

Annotations read_imglab(const std::filesystem::path& path, const ReadOptions& options) {
  const TextLines file = io::read_lines(path, options.text);
  Annotations annotations;
  annotations.folder = pictures_folder(path, options);
  std::vector<Parts> parts;
  std::string picture;
  std::optional<Annotation> face;  // the box we are in
  Parts face_parts;
  bool bad = false, ignored = false;

  const auto read = [&](const Tag& tag) {
    if (tag.name == "image" && tag.opens) {
      picture.clear();
      picture = attribute(tag, "file");
    } else if (tag.name == "box" && tag.opens) {
      bad = ignored = false;
      face_parts.clear();
      face = Annotation{picture,
                        {},
                        Box{number(tag, "left"), number(tag, "top"), number(tag, "width"),
                            number(tag, "height")}};
      face->where = place(file, tag.line);
      if (picture.empty()) throw Error("a box without a picture");
      const auto ignore = tag.attributes.find("ignore");
      ignored = ignore != tag.attributes.end() && ignore->second == "1";
    } else if (tag.name == "part" && tag.opens && !bad) {
      if (!face) throw Error("a part outside of a box");
      face_parts[attribute(tag, "name")] = {number(tag, "x"), number(tag, "y")};
    }
  };

  TagReader tags(file);
  OpenTags open(file);
  for (Tag tag; tags.next(tag);) {
    open.see(tag);
    read_or_skip(annotations, options, [&] {
      try {
        read(tag);
      } catch (const Error& error) {
        bad = true;
        file.fail(tag.line, error.what());
      }
    });
    if (tag.name == "box" && tag.closes) {
      if (face && !bad && !ignored) {
        annotations.faces.push_back(std::move(*face));
        parts.push_back(std::move(face_parts));
      }
      face.reset();
      face_parts.clear();
      bad = false;
    }
  }

  open.end();

  bool numbers = true;
  std::size_t known = 0;
  for (const Parts& one : parts) known += one.size();
  const std::map<std::string, int> ids = numbered(parts, numbers);
  require_room(path, options, parts.size(), ids.size(), known);
  if (!numbers)
    for (const auto& [name, id] : ids) annotations.names.push_back(name);
  for (const auto& [name, id] : ids) annotations.ids.push_back(id);
  std::sort(annotations.ids.begin(), annotations.ids.end());
  const auto last = std::unique(annotations.ids.begin(), annotations.ids.end());
  annotations.ids.erase(last, annotations.ids.end());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Shape& points = annotations.faces[i].points;
    points.setConstant(2, Eigen::Index(annotations.ids.size()), std::nanf(""));
    for (const auto& [name, point] : parts[i]) {
      const auto id =
          std::lower_bound(annotations.ids.begin(), annotations.ids.end(), ids.at(name));
      points.col(id - annotations.ids.begin()) = point;
    }
  }
  return checked(std::move(annotations), path, options);
}

void write_imglab(const std::filesystem::path& path, const Annotations& annotations) {
  std::string text =
      "<?xml version='1.0' encoding='UTF-8'?>\n<dataset>\n<name>landmarks</name>\n<images>\n";
  // dlib sorts the names as text, so all have as many digits as the largest.
  std::size_t digits = 2;
  for (const int id : annotations.ids) digits = std::max(digits, std::to_string(id).size());
  for (std::size_t i = 0; i < annotations.faces.size(); ++i) {
    const Annotation& face = annotations.faces[i];
    const bool first = i == 0 || annotations.faces[i - 1].file != face.file;
    if (!face.box)
      throw Error(formatted("{}: a face in '{}' has no box, which imglab's format needs",
                            path.string(), face.file));
    if (first) text += formatted("  <image file='{}'>\n", escaped(face.file));
    text += formatted("    <box top='{}' left='{}' width='{}' height='{}'>\n",
                      std::lround(face.box->y), std::lround(face.box->x),
                      std::lround(face.box->width), std::lround(face.box->height));
    for (Eigen::Index k = 0; k < face.points.cols(); ++k) {
      if (std::isnan(face.points(0, k))) continue;
      const std::string name = annotations.names.empty()
                                   ? formatted("{:0{}}", annotations.ids[std::size_t(k)], digits)
                                   : escaped(annotations.names[std::size_t(k)]);
      text += formatted("      <part name='{}' x='{}' y='{}'/>\n", name,
                        std::lround(face.points(0, k)), std::lround(face.points(1, k)));
    }
    text += "    </box>\n";
    const bool last =
        i + 1 == annotations.faces.size() || annotations.faces[i + 1].file != face.file;
    if (last) text += "  </image>\n";
  }
  io::write_text(path, text + "</images>\n</dataset>\n");
}

}  // namespace sdm::face
