#include "apps/sdm/annotate/journal.h"

#include <fmt/format.h>

#include "sdm/base/error.h"
#include "sdm/io/file.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

fs::path lock_beside(fs::path path) { return path += ".lock"; }

std::vector<std::string> whole_lines(const fs::path& path) {
  std::vector<std::string> lines;
  if (!fs::exists(path)) return lines;
  const std::string text = io::read_text(path);
  for (std::size_t first = 0;;) {
    const std::size_t end = text.find('\n', first);
    if (end == std::string::npos) return lines;
    if (end > first) lines.push_back(text.substr(first, end - first));
    first = end + 1;
  }
}

}  // namespace

Journal::Journal(const fs::path& path) : path_(path), lock_(lock_beside(path)) {
  if (!lock_.held())
    throw Error(fmt::format(
        "{}: another sdm annotate has it open; open that one's page in a second window instead",
        path.string()));
  lines_ = whole_lines(path_);  // without what may be left of a line that was cut
}

void Journal::append(const std::string& line) { file_.append(line + '\n'); }

void Journal::replace(const std::vector<std::string>& lines) {
  file_.close();
  io::OutputFile next(path_, io::OutputFile::Target::regular);
  for (const std::string& line : lines) next.write(line + '\n');
  next.finish(true);
  file_.open(path_);
}

void Journal::remove() {
  file_.close();
  std::error_code ignored;
  fs::remove(path_, ignored);
  fs::remove(lock_beside(path_), ignored);
}

}  // namespace sdm::app
