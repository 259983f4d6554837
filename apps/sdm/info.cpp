#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/sdm/commands.h"
#include "apps/sdm/shipped_model.h"
#include "apps/sdm/tell.h"
#include "sdm/io/file.h"

namespace sdm::app {
namespace {

std::string to_json(const io::Model& model) {
  nlohmann::ordered_json out;
  out["kind"] = model.kind;
  out["header"] = nlohmann::ordered_json::parse(model.header);
  out["tensors"] = nlohmann::ordered_json::array();
  for (const auto& [name, tensor] : model.tensors)
    out["tensors"].push_back({{"name", name},
                              {"type", io::name_of(tensor.type())},
                              {"shape", tensor.shape()},
                              {"bytes", tensor.bytes().size()}});
  return out.dump(2);
}

}  // namespace

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
      put_text(to_json(model) + "\n");
    else
      say("{}\n", io::describe(model));
  });
}

}  // namespace sdm::app
