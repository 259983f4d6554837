#include "experiments/detection/finders.h"

#ifdef SDM_HAVE_DLIB
#include <dlib/image_processing/frontal_face_detector.h>
#include <dlib/image_transforms.h>

#include <memory>
#endif

namespace sdm::experiments {

#ifdef SDM_HAVE_DLIB

std::optional<Finder> dlib_finder(const face::Model& model) {
  const auto detector =
      std::make_shared<dlib::frontal_face_detector>(dlib::get_frontal_face_detector());
  const face::BoxConvention convention = model.convention("dlib");
  return Finder{kDlibHog, [detector, convention](image::ByteView grey) {
                  dlib::array2d<unsigned char> picture(grey.height, grey.width);
                  for (int y = 0; y < grey.height; ++y)
                    std::copy_n(grey.row(y), grey.width, &picture[y][0]);
                  dlib::pyramid_up(picture);
                  std::vector<face::Similarity> places;
                  for (const dlib::rectangle& r : (*detector)(picture)) {
                    const face::Box box{0.5F * float(r.left()), 0.5F * float(r.top()),
                                        0.5F * float(r.width()), 0.5F * float(r.height())};
                    places.push_back(convention.similarity(box));
                  }
                  return places;
                }};
}

#else

std::optional<Finder> dlib_finder(const face::Model&) { return {}; }

#endif

}  // namespace sdm::experiments
