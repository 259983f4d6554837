#include "experiments/faces/faces_photographs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <opencv2/imgproc.hpp>

#include "experiments/photographs.h"
#include "sdm/face/aligner.h"
#include "sdm/face/detector.h"
#include "sdm/opencv/draw.h"
#include "sdm/opencv/image.h"

namespace sdm::experiments {

namespace fs = std::filesystem;

void show_photographs(const ExperimentContext& context, Results& results) {
  std::vector<fs::path> files = installed_portraits();
  for (const fs::path& folder : {context.data, fs::path("demo/photographs")}) {
    if (!fs::is_directory(folder)) continue;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".jpg" || entry.path().extension() == ".png")
        found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  const face::Model model = face::Model::load(context.shipped_file("face68.sdm"));
  face::Aligner aligner(model);
  const face::Model fast = face::Model::load(context.shipped_file("face68-fast.sdm"));
  const auto windows = face::DetectorModel::load(context.shipped_file("face-detector.sdm"));
  face::Detector detector(windows, fast);
  Gallery gallery;
  for (const fs::path& path : files) {
    cv::Mat picture = opencv::read_colour(path);
    const double scale = std::min(1.0, 800.0 / std::max(picture.cols, picture.rows));
    cv::resize(picture, picture, {}, scale, scale, cv::INTER_AREA);
    const auto grey = opencv::to_grey(picture);
    const auto faces = detector.detect(grey);
    for (const face::DetectedFace& face : faces)
      opencv::draw_points(picture, aligner.align_from(grey, face.place).points, {60, 255, 60},
                          std::max(1.2F, face.box.width / 90));
    const fs::path file = fmt::format("photograph_{:02}.jpg", gallery.pictures.size() + 1);
    opencv::write_image(context.output / "faces" / file, picture);
    results.add("photograph", "SDM accurate", "faces_found", double(faces.size()), "faces",
                {{"file", path.filename().string()}});
    gallery.pictures.push_back({file, fmt::format("{}: {} found by the detector",
                                                  path.filename().string(), faces.size())});
  }
  if (gallery.pictures.empty())
    throw NoData(
        "no labelled faces (300-W's LFPW test images cannot be shipped) and no photograph: name a "
        "folder with --data DIR, or install Debian's python-matplotlib-data or python3-skimage");
  context.say("no labelled faces here: photographs with points drawn, and no error figures");
  results.exhibits = {
      {"photographs", "Landmarks in photographs",
       "Section 6.3 measures on LFPW: mean error 3.47 % of 29 points.",
       "The labelled faces (300-W's LFPW test images) are not here and cannot be shipped, so there "
       "are no error figures: only what the shipped model finds. Name the folder with --data DIR.",
       gallery}};
  results.settings["labelled_faces"] = "none";
}

}  // namespace sdm::experiments
