#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/sdm/commands.h"
#include "sdm/io/file.h"

namespace sdm::app {

void add_info(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "Tell what a model file holds");
  auto path = std::make_shared<std::string>();
  command->add_option("FILE", *path, "A model file written by sdm")->required();
  command->callback([path] { fmt::print("{}\n", io::describe(io::read(*path))); });
}

}  // namespace sdm::app
