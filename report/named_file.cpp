#include "report/named_file.h"

namespace sdm::report {

std::pair<std::string, std::filesystem::path> named_file(const std::string& text) {
  namespace fs = std::filesystem;
  const std::size_t split = text.find('=');
  if (split == std::string::npos || fs::exists(text)) return {fs::path(text).stem().string(), text};
  return {text.substr(0, split), text.substr(split + 1)};
}

}  // namespace sdm::report
