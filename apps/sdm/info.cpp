#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/sdm/commands.h"
#include "apps/sdm/shipped_model.h"
#include "apps/sdm/tell.h"
#include "sdm/io/file.h"

namespace sdm::app {

void add_info(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "Tell what a model file holds");
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command
      ->add_option("FILE", *path,
                   "A model file written by sdm, or the name of a shipped one (sdm models)")
      ->required();
  command->add_flag("--json", *json, "Header and tensors as JSON");
  command->callback([path, json] {
    const io::Model model = io::read(model_file(*path));
    if (*json)
      put_text(io::describe_json(model) + "\n");
    else
      say("{}\n", io::describe(model));
  });
}

}  // namespace sdm::app
