#include "sdm/io/file.h"

#include <algorithm>
#include <cctype>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/pose/estimator.h"
#include "sdm/pose/object.h"

namespace sdm::pose {

void Estimator::save(const std::filesystem::path& path) const { io::write(path, to_model()); }

Estimator Estimator::load(const std::filesystem::path& path) { return io::load<Estimator>(path); }

Points3 read_object(const std::filesystem::path& path, std::string_view group) {
  const std::string text = io::read_text(path);
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (ending == ".obj") return parse_obj(text, path.string(), group);
  if (!group.empty())
    throw Error(formatted("{}: has no group \"{}\", expected an .obj file for a group",
                          path.string(), group));
  return parse_points(text, path.string());
}

}  // namespace sdm::pose
