#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sdm/pose/estimator.h"

namespace sdm::pose {

/// A model file of an estimator, and back. Throws Error as io::write and io::read do.
void save(const Estimator& estimator, const std::filesystem::path& path,
          const std::string& provenance = {});
Estimator load_estimator(const std::filesystem::path& path);

/// An object's points from a file: parse_obj where the name ends in .obj, in letters of any case,
/// else parse_points. Throws Error as they do, and on a group of a file that is not .obj.
Points3 read_object(const std::filesystem::path& path, std::string_view group = {});

}  // namespace sdm::pose
