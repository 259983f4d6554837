#pragma once

#include <filesystem>
#include <string>

#include "sdm/face/data/methods.h"

namespace sdm::experiments {

/// Where Debian's libdlib-data puts dlib's 68-point model.
inline constexpr char kDlibModel[] = "/usr/share/dlib/shape_predictor_68_face_landmarks.dat";

/// Whether this program was built with dlib.
bool have_dlib();

/// A 68-point shape predictor of dlib as a method. Throws: built without dlib; not such a file.
face::Method dlib_method(std::string name, const std::filesystem::path& path);

}  // namespace sdm::experiments
