#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/sdm/commands.h"
#include "apps/sdm/shipped_model.h"
#include "apps/sdm/tell.h"
#include "sdm/base/error.h"
#include "sdm/io/file.h"

namespace sdm::app {
namespace {

void list() {
  const auto files = shipped_models();
  if (files.empty()) throw Error("no models: set SDM_MODELS to a folder that has some");
  for (const auto& file : files) {
    std::string kind, licence;
    double size = 0;  // bytes
    try {
      size = double(std::filesystem::file_size(file));
      const io::Model model = io::read(file);
      kind = model.kind;
      const auto header = nlohmann::json::parse(model.header);
      if (header.contains("licence")) licence = header["licence"].get<std::string>();
    } catch (const std::exception& error) {
      kind = "unreadable", licence = error.what();
    }
    std::replace_if(
        licence.begin(), licence.end(), [](unsigned char c) { return c < 32 || c == 127; }, '?');
    say("{:<18} {:<10} {:>8.1f} kB  {}\n{:<18} {}\n", file.stem().string(), kind, size / 1e3,
        licence, "", file.string());
  }
}

}  // namespace

void add_models(CLI::App& app) {
  CLI::App* command = app.add_subcommand("models", "List the models that have names");
  command->footer(
      "Where a command takes a model, a name of this list does: -m face68-fast. They are looked\n"
      "for in the folder that the environment's SDM_MODELS names, in share/sdm beside the\n"
      "program's own folder, and in the sources it was built from.");
  command->callback([] { list(); });
}

}  // namespace sdm::app
