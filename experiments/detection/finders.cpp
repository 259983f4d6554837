#include "experiments/detection/finders.h"

#include <fmt/format.h>

#include <memory>

#include "report/named_file.h"
#include "sdm/opencv/detector.h"

namespace sdm::experiments {
namespace {

Finder box_finder(std::string name, face::BoxDetector detector, face::BoxConvention convention) {
  return {std::move(name), [detector = std::move(detector),
                            convention = std::move(convention)](image::ByteView grey) {
            std::vector<face::Similarity> places;
            for (const face::Box& box : detector(grey))
              if (box.width > 0) places.push_back(convention.similarity(box));
            return places;
          }};
}

}  // namespace

FinderModels::FinderModels(const ExperimentContext& context)
    : detector(face::DetectorModel::load(context.shipped_file("face-detector.sdm"))),
      accurate(face::Model::load(context.shipped_file("face68.sdm"))),
      fast(face::Model::load(context.shipped_file("face68-fast.sdm"))) {}

std::vector<Finder> make_finders(const ExperimentContext& context, const FinderModels& models,
                                 float smallest) {
  std::vector<Finder> finders;
  face::DetectorOptions options;
  options.smallest = smallest;
  const auto ours = std::make_shared<face::Detector>(models.detector, models.fast, options);
  finders.push_back({kOurs, [ours](image::ByteView grey) {
                       std::vector<face::Similarity> places;
                       for (const face::DetectedFace& face : ours->detect(grey))
                         places.push_back(face.place);
                       return places;
                     }});
  opencv::DetectorOptions foreign;
  foreign.min_size = int(smallest);
  try {
    finders.push_back(box_finder(kHaar, opencv::make_detector("haar_alt2", foreign),
                                 models.accurate.convention("haar_alt2")));
  } catch (const Error& error) {
    context.say(fmt::format("Haar left out: {}", error.what()));
  }
  if (auto dlib = dlib_finder(models.accurate))
    finders.push_back(std::move(*dlib));
  else
    context.say("dlib's detector left out: this program was built without dlib");
  for (const std::string& peer : context.peers) {
    const auto [name, path] = named_file(peer);
    if (path.extension() == ".onnx")
      finders.push_back(box_finder(name, opencv::make_detector(path.string(), foreign),
                                   opencv::yunet_convention()));
  }
  return finders;
}

}  // namespace sdm::experiments
