#pragma once

#include <CLI/CLI.hpp>

namespace sdm::app {

// Each command lives in its own file and adds itself to the tool: its options, its help, and a
// callback that does the work and throws sdm::Error when it cannot.
void add_adapt(CLI::App& app);
void add_annotate(CLI::App& app);
void add_convert(CLI::App& app);
void add_describe(CLI::App& app);
void add_detect(CLI::App& app);
void add_eval(CLI::App& app);
void add_follow(CLI::App& app);
void add_info(CLI::App& app);
void add_models(CLI::App& app);
void add_pose(CLI::App& app);
void add_render(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_track(CLI::App& app);
void add_train(CLI::App& app);
void add_train_detector(CLI::App& app);

/// --root, which every command that reads annotations obeys.
void add_root(CLI::App& app);

}  // namespace sdm::app
