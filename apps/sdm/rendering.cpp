#include "apps/sdm/rendering.h"

#include <fmt/format.h>

#include <map>

#include "apps/sdm/numbers.h"
#include "sdm/base/error.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

// Ingredients that can be left out.
const std::map<std::string, bool render::RenderOptions::*> kIngredients = {
    {"lamp", &render::RenderOptions::lamp},
    {"glow", &render::RenderOptions::glow},
    {"expressions", &render::RenderOptions::expressions},
    {"shapes", &render::RenderOptions::shapes},
    {"hair", &render::RenderOptions::hair},
    {"beards", &render::RenderOptions::beards},
    {"glasses", &render::RenderOptions::glasses},
    {"hats", &render::RenderOptions::hats},
    {"clothes", &render::RenderOptions::clothes},
    {"occluders", &render::RenderOptions::occluders},
    {"camera", &render::RenderOptions::camera}};

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> files = opencv::pictures_below(folder);
  if (files.empty()) throw Error(fmt::format("{}: no pictures", folder.string()));
  return files;
}

// MakeHuman's mesh, where its own folders have it.
fs::path mesh_for(const RenderingArguments& a) {
  if (!a.skin_mesh.empty()) return a.skin_mesh;
  for (const fs::path& place :
       {fs::path("../3dobjs/base.obj"), fs::path("3dobjs/base.obj"), fs::path("base.obj")})
    if (fs::exists(a.skins / place)) return (a.skins / place).lexically_normal();
  throw Error(fmt::format("{}: MakeHuman's base.obj is not near it; name it with --skin-mesh",
                          a.skins.string()));
}

}  // namespace

void add_rendering_options(CLI::App& command, RenderingArguments& a) {
  const std::string what = "What is drawn";
  command.add_option("--ict", a.ict, "ICT-FaceKit's folder of meshes (FaceXModel)")->group(what);
  command
      .add_option("--skins", a.skins,
                  "A folder of MakeHuman's skin textures; without, skin is plain")
      ->group(what);
  command
      .add_option(
          "--skin-mesh", a.skin_mesh,
          "MakeHuman's base.obj, which they are in the layout of; else looked for near them")
      ->group(what);
  command
      .add_option("--backgrounds", a.backgrounds,
                  "A folder of pictures without people; without, backgrounds are made up")
      ->group(what);
  command.add_option("--size", a.options.size, "Pixels of a face")
      ->capture_default_str()
      ->group(what);
  command.add_option("--yaw", a.options.yaw, "Degrees that heads turn aside at most")
      ->capture_default_str()
      ->group(what);
  std::vector<std::string> names;
  for (const auto& one : kIngredients) names.push_back(one.first);
  command.add_option("--without", a.without, "Leave out, to measure what it brings")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->group(what);
  if (command.get_option_no_throw("--seed") == nullptr)
    command.add_option("--seed", a.options.seed, "Seed of every random draw")
        ->capture_default_str();
  if (command.get_option_no_throw("--threads") == nullptr)
    command.add_option("--threads", a.threads, "Threads; 0 takes all cores")
        ->check(kNotNegative)
        ->capture_default_str();
}

std::vector<fs::path> files_to_render(const RenderingArguments& a) {
  std::vector<fs::path> files;
  const auto add = [&](const std::vector<fs::path>& more) {
    files.insert(files.end(), more.begin(), more.end());
  };
  if (fs::is_directory(a.ict))
    for (const fs::directory_entry& entry : fs::directory_iterator(a.ict))
      if (entry.is_regular_file()) files.push_back(entry.path());
  if (!a.skins.empty()) {
    add(pictures_in(a.skins));
    files.push_back(mesh_for(a));
  }
  if (!a.backgrounds.empty()) add(pictures_in(a.backgrounds));
  return files;
}

render::FaceRenderer make_renderer(const RenderingArguments& a, ThreadPool& pool) {
  render::RenderOptions options = a.options;
  for (const std::string& name : a.without) options.*kIngredients.at(name) = false;
  options.validate();
  render::FaceRenderer renderer(render::read_head_model(a.ict), options, pool);
  if (!a.skins.empty()) {
    const fs::path mesh = mesh_for(a);
    for (const fs::path& file : pictures_in(a.skins))
      renderer.add_skin(opencv::read_grey(file), mesh);
  }
  if (!a.backgrounds.empty())
    for (const fs::path& file : pictures_in(a.backgrounds))
      renderer.add_background(opencv::read_grey(file));
  return renderer;
}

}  // namespace sdm::app
