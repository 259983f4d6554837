#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "sdm/base/thread_pool.h"
#include "sdm/render/face_renderer.h"

namespace sdm::app {

/// What heads are drawn from, and how.
struct RenderingArguments {
  std::filesystem::path ict, skins, skin_mesh, backgrounds;
  std::vector<std::string> without;
  render::RenderOptions options;
  int threads = 0;
};

/// --ict, --skins, --skin-mesh, --backgrounds, --size, --yaw, --without, --seed and --threads.
void add_rendering_options(CLI::App& command, RenderingArguments& arguments);

/// The files that a renderer may read. Throws Error where there are none.
std::vector<std::filesystem::path> files_to_render(const RenderingArguments& arguments);

/// Reads heads, skins and backgrounds. Throws Error naming what cannot be read.
render::FaceRenderer make_renderer(const RenderingArguments& arguments, ThreadPool& pool);

}  // namespace sdm::app
