#include "experiments/face_dlib.h"

#include <fmt/format.h>

#include "sdm/base/error.h"

#ifdef SDM_HAVE_DLIB
#include <dlib/image_processing.h>
#include <dlib/opencv.h>

#include <cmath>
#include <memory>

#include "sdm/face/data/markup.h"
#include "sdm/opencv/image.h"
#endif

namespace sdm::experiments {

#ifdef SDM_HAVE_DLIB

bool have_dlib() { return true; }

face::Method dlib_method(std::string name, const std::filesystem::path& path) {
  const auto predictor = std::make_shared<dlib::shape_predictor>();
  try {
    dlib::deserialize(path.string()) >> *predictor;
  } catch (const std::exception& error) {
    throw Error(
        fmt::format("{} is not a shape predictor of dlib: {}", path.string(), error.what()));
  }
  if (predictor->num_parts() != 68)
    throw Error(
        fmt::format("{} has {} points, expected 68", path.string(), predictor->num_parts()));
  face::Method method;
  method.name = std::move(name);
  method.predictions.ids = face::ibug(68).ids;
  method.find = [predictor](image::ByteView grey, const face::Box& box) {
    const long x = std::lround(box.x), y = std::lround(box.y);
    const dlib::rectangle where(x, y, x + std::lround(box.width) - 1,
                                y + std::lround(box.height) - 1);
    const auto found = (*predictor)(dlib::cv_image<unsigned char>(opencv::mat(grey)), where);
    face::Shape points(2, 68);
    for (unsigned long i = 0; i < 68; ++i)
      points.col(long(i)) << float(found.part(i).x()), float(found.part(i).y());
    return points;
  };
  return method;
}

#else

bool have_dlib() { return false; }

face::Method dlib_method(std::string, const std::filesystem::path& path) {
  throw Error(fmt::format("{} needs dlib, and this program was built without it", path.string()));
}

#endif

}  // namespace sdm::experiments
