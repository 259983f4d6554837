#include "apps/sdm/annotate/album.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/sdm/annotate/journal.h"
#include "apps/sdm/annotate/json_values.h"
#include "apps/sdm/annotations.h"
#include "apps/sdm/output.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPoints = 10000;
constexpr std::chrono::seconds kUntilNextTry(2);  // to write the output, after it could not be

bool is_open(const Mark& mark) { return mark.state == Mark::State::open; }
bool is_placed(const Mark& mark) { return mark.state == Mark::State::placed; }

face::Shape shape_of(const MarkedObject& object) {
  face::Shape points(2, Eigen::Index(object.marks.size()));
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    const Mark& mark = object.marks[static_cast<std::size_t>(i)];
    points.col(i) << (is_placed(mark) ? mark.x : std::nanf("")),
        (is_placed(mark) ? mark.y : std::nanf(""));
  }
  return points;
}

MarkedObject object_of(const face::Annotation& face) {
  MarkedObject object;
  for (const auto& point : face.points.colwise())
    object.marks.push_back(point.allFinite() ? Mark{Mark::State::placed, point.x(), point.y()}
                                             : Mark{Mark::State::hidden, 0, 0});
  object.box = face.box;
  object.group = face.group;
  object.scale = face.scale;
  return object;
}

std::vector<std::string> pictures_in(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw Error(fmt::format("{}: no folder of pictures", folder.string()));
  std::vector<std::string> files;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied))
    if (opencv::is_picture(entry.path()) && entry.is_regular_file() &&
        !entry.path().filename().string().starts_with('.'))
      files.push_back(entry.path().lexically_relative(folder).generic_string());
  for (const std::string& file : files)  // the journal could not name it
    if (!is_utf8(file))
      throw Error(fmt::format("{}: the name is not UTF-8: rename the picture",
                              printable((folder / file).string())));
  if (files.empty()) throw Error(fmt::format("{}: no pictures in it", folder.string()));
  std::sort(files.begin(), files.end());
  return files;
}

// Names, or numbers where they are 0, 1, ...
face::Annotations markup_named(const std::vector<std::string>& names) {
  face::Annotations markup;
  for (std::size_t i = 0; i < names.size(); ++i) markup.ids.push_back(static_cast<int>(i));
  const auto is_number = [](const std::string& name) {
    return !name.empty() && name.size() <= 6 &&
           name.find_first_not_of("0123456789") == std::string::npos;
  };
  if (!std::all_of(names.begin(), names.end(), is_number)) {
    markup.names = names;
    return markup;
  }
  for (std::size_t i = 0; i < names.size(); ++i) markup.ids[i] = std::stoi(names[i]);
  return markup;
}

std::vector<std::string> names_of(const face::Annotations& markup) {
  if (!markup.names.empty()) return markup.names;
  std::vector<std::string> names;
  for (const int id : markup.ids) names.push_back(std::to_string(id));
  return names;
}

// Names that are but numbers, as those of points of which only the count was told.
bool is_count(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] != std::to_string(i)) return false;
  return true;
}

bool is_whole_picture(const std::optional<face::Box>& box, const fs::path& picture) {
  if (!box || box->x != 0 || box->y != 0) return false;
  const face::PictureSize size = size_of_picture(picture);
  return box->width == static_cast<float>(size.width) &&
         box->height == static_cast<float>(size.height);
}

// A file that is there and empty is one to be written.
bool has_annotations(const fs::path& output, Format format) {
  if (format != Format::pts_folder)
    return fs::exists(output) && !(fs::is_regular_file(output) && fs::is_empty(output));
  if (!fs::exists(output)) return false;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(output))
    if (entry.path().extension() == ".pts") return true;
  return false;
}

fs::path pts_of(const fs::path& output, const std::string& file) {
  return output / fs::path(file).replace_extension(".pts");
}

// A box of a picture goes to the object that lies nearest to its middle, and to one alone: the
// others had none. Those that nobody gets stay.
void give_each_once(face::Boxes& boxes, face::Annotations& annotations) {
  std::map<std::string, std::vector<face::Annotation*>> objects;
  for (face::Annotation& face : annotations.faces) objects[face.file].push_back(&face);
  for (auto& [file, in_picture] : objects) {
    const auto found = boxes.find(file);
    while (found != boxes.end() && !found->second.empty() && !in_picture.empty()) {
      struct Pair {
        float distance;
        std::size_t box, object;
      };
      Pair nearest{std::numeric_limits<float>::infinity(), 0, 0};
      for (std::size_t b = 0; b < found->second.size(); ++b)
        for (std::size_t o = 0; o < in_picture.size(); ++o) {
          const face::Box& box = found->second[b];
          const Eigen::Vector2f middle(box.x + box.width / 2, box.y + box.height / 2);
          const float distance = (face::bounds(in_picture[o]->points).center() - middle).norm();
          if (distance < nearest.distance) nearest = {distance, b, o};
        }
      in_picture[nearest.object]->box = found->second[nearest.box];
      found->second.erase(found->second.begin() + std::ptrdiff_t(nearest.box));
      in_picture.erase(in_picture.begin() + std::ptrdiff_t(nearest.object));
    }
  }
}

bool same_bits(const face::Shape& a, const face::Shape& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), sizeof(float) * static_cast<std::size_t>(a.size())) == 0;
}

}  // namespace

Album::Album(const AlbumOptions& options)
    : folder_(whole(options.pictures)),
      output_(whole(options.output)),
      format_(format_of(options.output)),
      derived_margin_(options.derived_margin) {
  if (format_ == Format::pts)
    throw Error(fmt::format("{}: a .pts file holds one face: name a folder, or another format",
                            options.output.string()));
  for (std::string& file : pictures_in(folder_)) pictures_.push_back({std::move(file)});
  if (format_ == Format::pts_folder) {
    std::map<fs::path, std::string> taken;
    for (const MarkedPicture& picture : pictures_)
      if (const auto [at, fresh] = taken.emplace(pts_of(output_, picture.file), picture.file);
          !fresh)
        throw Error(
            fmt::format("{} and {} would have the same .pts file: take another format, or "
                        "rename one of them",
                        at->second, picture.file));
    fs::create_directories(output_);
  }
  fs::path journal = output_;
  journal += ".journal";
  Outputs outputs;
  outputs.writes(journal, Outputs::Kind::whole);
  if (format_ != Format::pts_folder) outputs.writes(output_, Outputs::Kind::whole);
  if (!holds_boxes(format_)) outputs.writes(face::boxes_beside(output_), Outputs::Kind::whole);
  journal_ = std::make_unique<Journal>(journal);
  take_up(options);
  writer_ = std::thread([this] { write_as_needed(); });
}

Album::~Album() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (writer_.joinable()) writer_.join();
  if (failure_.empty() && drafts().size() == 1) journal_->remove();
}

// What the output does not have, after what the points are called.
std::vector<std::string> Album::drafts() const {
  std::vector<std::string> lines{journal_points(names_of(markup_))};
  for (const MarkedPicture& picture : pictures_)
    if (picture.done == picture.objects.empty()) lines.push_back(json_text(to_json(picture)));
  lines.insert(lines.end(), gone_.begin(), gone_.end());
  return lines;
}

void Album::take_up(const AlbumOptions& options) {
  std::vector<std::string> named;
  const std::vector<std::string>& lines = journal_->lines();
  if (!lines.empty()) {
    try {
      named = read_journal_points(lines.front());
    } catch (const Error& error) {
      throw Error(fmt::format("{}.journal:1: {}", output_.string(), error.what()));
    }
  }
  take_up_boxes();
  if (has_annotations(output_, format_)) take_up_output();
  take_names(named, output_.string() + ".journal");
  take_names(options.points, "--points");
  if (markup_.ids.empty())
    throw Error("what are the points? --points 12, or their names: --points tip,left,right");
  if (points() > kMostPoints)
    throw Error(fmt::format("{} points, expected at most {}", points(), kMostPoints));
  take_up_journal();
  std::vector<std::string> kept{journal_points(names_of(markup_))};
  for (const MarkedPicture& picture : pictures_)
    if (picture.revision > 0) kept.push_back(json_text(to_json(picture)));
  kept.insert(kept.end(), gone_.begin(), gone_.end());
  journal_->replace(kept);
  wanted_ = journal_->lines().size() > 1;
}

void Album::take_up_boxes() {
  const fs::path beside = face::boxes_beside(output_);
  if (holds_boxes(format_) || !fs::exists(beside)) return;
  const face::BoxTable table = face::read_box_table(beside);
  if (table.detectors.size() != 1)
    throw Error(
        fmt::format("{}: boxes of {} detectors, which would be written over: take another "
                    "name for the output",
                    beside.string(), table.detectors.size()));
  detector_ = table.detectors[0];
  boxes_ = table.boxes[0];
}

void Album::take_up_output() {
  const fs::path named_from = format_ == Format::pts_folder ? folder_ : fs::path();
  face::Annotations before = face::read_annotations(output_, read_options(false, named_from));
  give_each_once(boxes_, before);
  markup_.ids = before.ids;
  markup_.names = before.names;
  std::map<fs::path, std::size_t> number;
  for (std::size_t i = 0; i < pictures_.size(); ++i) number.emplace(path(i), i);
  for (face::Annotation& face : before.faces) {
    const auto found = number.find(whole(before.path(face)));
    if (found == number.end()) {
      face.file = whole(before.path(face)).string();
      others_.push_back(std::move(face));
      continue;
    }
    // Whoever writes imglab's format without a box has to give one.
    if (format_ == Format::imglab && is_whole_picture(face.box, path(found->second)))
      face.box.reset();
    MarkedPicture& picture = pictures_[found->second];
    picture.done = true;
    picture.objects.push_back(object_of(face));
    if (format_ == Format::pts_folder)
      written_.emplace(pts_of(output_, picture.file), std::move(face.points));
  }
}

// What the points are called, where the output does not tell it: .tps, .pts and lists have numbers
// only, imglab's names have no order, and one that was hidden everywhere is not there.
void Album::take_names(const std::vector<std::string>& names, const std::string& who) {
  const std::vector<std::string> own = names_of(markup_);
  if (names.empty() || names == own || (names.size() == own.size() && is_count(names))) return;
  const auto holds = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  const bool unnamed = own.size() == names.size() && format_ != Format::csv;
  if (own.empty() || (!named_ && unnamed && format_ != Format::imglab)) {
    markup_ = markup_named(names);
  } else if (!named_ && format_ == Format::imglab &&
             std::all_of(own.begin(), own.end(),
                         [&](const std::string& name) { return holds(names, name); })) {
    markup_ = markup_named(names);
    std::vector<Index> from;  // the points of the output, -1: not there
    for (const std::string& name : names)
      from.push_back(holds(own, name) ? std::find(own.begin(), own.end(), name) - own.begin() : -1);
    for (MarkedPicture& picture : pictures_)
      for (MarkedObject& object : picture.objects) {
        std::vector<Mark> marks(names.size(), {Mark::State::hidden, 0, 0});
        for (std::size_t i = 0; i < from.size(); ++i)
          if (from[i] >= 0) marks[i] = object.marks[static_cast<std::size_t>(from[i])];
        object.marks = std::move(marks);
      }
    for (face::Annotation& face : others_) {
      face::Shape points = face::Shape::Constant(2, Index(names.size()), std::nanf(""));
      for (Index i = 0; i < points.cols(); ++i)
        if (const Index k = from[static_cast<std::size_t>(i)]; k >= 0)
          points.col(i) = face.points.col(k);
      face.points = points;
    }
  } else {
    throw Error(fmt::format("{} has {} points ({}), expected {} ({}) as {} has", who, names.size(),
                            fmt::join(names, ", "), own.size(), fmt::join(own, ", "),
                            output_.string()));
  }
  named_ = true;
}

void Album::take_up_journal() {
  std::map<std::string, std::size_t> number;
  for (std::size_t i = 0; i < pictures_.size(); ++i) number.emplace(pictures_[i].file, i);
  for (std::size_t i = 1; i < journal_->lines().size(); ++i) {
    try {
      MarkedPicture picture = read_picture(journal_->lines()[i], points());
      if (const auto found = number.find(picture.file); found != number.end())
        pictures_[found->second] = std::move(picture);
      else
        gone_.push_back(journal_->lines()[i]);  // it may come back
    } catch (const Error& error) {
      throw Error(fmt::format("{}.journal:{}: {}", output_.string(), i + 1, error.what()));
    }
  }
}

fs::path Album::path(std::size_t picture) const {
  return (folder_ / pictures_[picture].file).lexically_normal();
}

MarkedPicture Album::picture(std::size_t picture) const {
  const std::lock_guard lock(mutex_);
  return pictures_[picture];
}

bool Album::is_begun(std::size_t picture) const {
  const std::lock_guard lock(mutex_);
  return pictures_[picture].done || !pictures_[picture].objects.empty();
}

std::string Album::states() const {
  const std::lock_guard lock(mutex_);
  std::string states;
  for (const MarkedPicture& picture : pictures_)
    states += picture.done ? 'd' : picture.objects.empty() ? 'o' : 'b';
  return states;
}

std::size_t Album::done() const {
  const std::string all = states();
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), 'd'));
}

std::size_t Album::done_with_objects() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      pictures_.begin(), pictures_.end(),
      [](const MarkedPicture& picture) { return picture.done && !picture.objects.empty(); }));
}

void Album::require_whole(const std::vector<MarkedObject>& objects, bool done) const {
  if (done)
    for (const MarkedObject& object : objects) {
      if (std::any_of(object.marks.begin(), object.marks.end(), is_open))
        throw Error("a picture is done when every point is set or marked as not visible");
      if (std::none_of(object.marks.begin(), object.marks.end(), is_placed))
        throw Error("no point of an object is visible: remove the object");
    }
  if (!done || objects.size() < 2) return;
  if (format_ == Format::pts_folder)
    throw Error("a .pts file holds one object: take another format for several in a picture");
  if (format_ == Format::imglab && derived_margin_ < 0 &&
      !std::all_of(objects.begin(), objects.end(),
                   [](const MarkedObject& object) { return object.box.has_value(); }))
    throw Error("imglab's format needs a box around each of several objects: draw them");
}

Album::Change Album::change(std::size_t number, std::int64_t revision,
                            std::vector<MarkedObject> objects, bool done) {
  std::unique_lock lock(mutex_);
  MarkedPicture& picture = pictures_[number];
  if (picture.revision != revision) return {true, picture};
  MarkedPicture next{picture.file, revision + 1, done, std::move(objects)};
  if (done && derived_margin_ >= 0)
    for (MarkedObject& object : next.objects) {
      if (object.box) continue;
      const Eigen::AlignedBox2f around = face::bounds(shape_of(object));
      const auto margin = static_cast<float>(derived_margin_) * around.sizes().maxCoeff() + 0.5F;
      object.box = face::Box{around.min().x() - margin, around.min().y() - margin,
                             around.sizes().x() + 2 * margin, around.sizes().y() + 2 * margin};
    }
  journal_->append(json_text(to_json(next)));
  const bool in_output = picture.done || done;
  picture.revision = next.revision;  // not its file, which others read without the lock
  picture.done = done;
  picture.objects = next.objects;
  Change change{false, std::move(next)};
  if (in_output) {
    wanted_ = true;
    lock.unlock();
    wake_.notify_all();
  }
  return change;
}

face::Annotations Album::finished() const {
  const std::lock_guard lock(mutex_);
  face::Annotations result = markup_;
  result.folder = folder_;
  for (const MarkedPicture& picture : pictures_) {
    if (!picture.done) continue;
    for (const MarkedObject& object : picture.objects)
      result.faces.push_back(
          {picture.file, shape_of(object), object.box, object.group, object.scale, picture.file});
  }
  return result;
}

std::string Album::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Album::settle() {
  std::unique_lock lock(mutex_);
  settled_.wait(lock, [&] { return !wanted_ && !writing_; });
}

void Album::write_pts_files(const face::Annotations& all) {
  std::set<fs::path> now;
  for (const face::Annotation& face : all.faces) {
    const fs::path path = pts_of(output_, face.file);
    now.insert(path);
    if (const auto before = written_.find(path);
        before != written_.end() && same_bits(before->second, face.points))
      continue;
    fs::create_directories(path.parent_path());
    face::write_pts(path, face.points);
    to_disk(path);
    written_[path] = face.points;
  }
  std::erase_if(written_, [&](const auto& before) {
    return !now.contains(before.first) && (fs::remove(before.first), true);
  });
}

void Album::write_output() {
  face::Annotations all = finished();
  // The pictures of .pts files are named relative to their own folder.
  if (format_ == Format::pts_folder)
    write_pts_files(all);
  else
    all = moved(std::move(all), folder_of(output_, format_));
  for (face::Annotation face : others_) {
    face.file = fs::path(face.file).lexically_proximate(all.folder).generic_string();
    all.faces.push_back(std::move(face));
  }
  if (format_ == Format::imglab) give_whole_pictures(all);
  if (format_ != Format::pts_folder) {
    if (all.faces.empty()) {
      fs::remove(output_);
    } else {
      write_annotation_file(output_, all, format_);
      to_disk(output_);
    }
  }
  if (!holds_boxes(format_)) write_boxes_beside(all);
}

// What was there stays, for pictures in which nothing was drawn.
void Album::write_boxes_beside(const face::Annotations& all) {
  face::Boxes boxes = boxes_;
  std::set<std::string> drawn;
  for (const face::Annotation& face : all.faces) {
    std::vector<face::Box>& of_picture = boxes[face.file];
    if (!face.box) continue;
    if (drawn.insert(face.file).second) of_picture.clear();
    of_picture.push_back(*face.box);
  }
  const fs::path beside = face::boxes_beside(output_);
  const bool any = std::any_of(boxes.begin(), boxes.end(),
                               [](const auto& picture) { return !picture.second.empty(); });
  if (any || fs::exists(beside)) face::write_boxes(beside, boxes, detector_);
}

void Album::write_as_needed() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto is_called = [&] { return wanted_ || ending_; };
    if (failure_.empty())
      wake_.wait(lock, is_called);
    else if (!wake_.wait_for(lock, kUntilNextTry, is_called))
      wanted_ = true;
    if (!wanted_) break;
    wanted_ = false;
    writing_ = true;
    lock.unlock();
    std::string failure;
    try {
      write_output();
    } catch (const std::exception& error) {
      failure = error.what();
    }
    lock.lock();
    writing_ = false;
    failure_ = failure;
    // What the output has needs no journal any more; what came meanwhile stays in both.
    if (failure.empty() && !wanted_) {
      try {
        journal_->replace(drafts());
      } catch (const std::exception& error) {
        failure_ = error.what();
      }
    }
    settled_.notify_all();
  }
}

}  // namespace sdm::app
