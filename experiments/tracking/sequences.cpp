#include "experiments/tracking/sequences.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>

#include "report/named_file.h"
#include "sdm/base/error.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/markup.h"
#include "sdm/opencv/image.h"

namespace sdm::experiments {
namespace {

FaceSequences moved_stills(const ExperimentContext& context) {
  FaceSequences result;
  result.kind = "moved_stills";
  MovedStillOptions options;
  if (context.quick) options.frames = 20;
  for (Still& loaded : load_stills(context, context.quick ? 24 : 0, result.source)) {
    const auto still = std::make_shared<const Still>(std::move(loaded));
    options.seed = context.seed * 1000 + result.all.size();
    result.all.push_back({still->name, options.frames, [still, options](int number) {
                            return MovedStill(*still, options).frame(number);
                          }});
  }
  return result;
}

FaceSequences video(const std::filesystem::path& path) {
  face::Annotations truth = face::read_annotations(path);
  const int points = static_cast<int>(truth.ids.size());
  // RU-FACS has 66 points, or the 49 inner ones; without numbers the count tells which they are.
  if (points == 66 || points == 51 || points == 49) truth.ids = face::ibug(points).ids;
  const std::vector<int> ids = face::ibug(68).ids;
  std::map<std::string, std::vector<std::size_t>> folders;
  for (std::size_t i = 0; i < truth.faces.size(); ++i)
    folders[truth.path(truth.faces[i]).parent_path().filename().string()].push_back(i);
  FaceSequences result{"labelled frames of " + path.filename().string(), "video", {}};
  for (const auto& [name, frames] : folders) {
    if (frames.size() < 2)
      throw Error(fmt::format("{}: {} has one frame, expected at least two", path.string(), name));
    result.all.push_back(
        {name, static_cast<int>(frames.size()), [truth, ids, frames = frames](int number) {
           const face::Annotation& one = truth.faces[frames[static_cast<std::size_t>(number)]];
           return MovedFrame{opencv::read_grey(truth.path(one)),
                             face::select(one.points, truth.ids, ids)};
         }});
  }
  return result;
}

}  // namespace

FaceSequences load_face_sequences(const ExperimentContext& context) {
  if (!context.set.empty()) {
    const auto [name, path] = named_file(context.set);
    FaceSequences set = video(path);
    set.source = fmt::format("{}, labelled frames", name);
    set.kind = name;
    return set;
  }
  return std::filesystem::is_regular_file(context.data) ? video(context.data)
                                                        : moved_stills(context);
}

}  // namespace sdm::experiments
