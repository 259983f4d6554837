#pragma once

#include <filesystem>

#include "experiments/registry.h"

namespace sdm::experiments {

/// Writes the experiment's part of the page to DIR/NAME/section.html: what ran and how, its
/// exhibits with their pictures inside, its settings; or why there is nothing to show.
void write_section(const Experiment& experiment, const Results& results,
                   const std::filesystem::path& directory);

/// Puts the parts in DIR together: index.html, one file that needs no network, and results.json and
/// results.csv with every number. Parts of earlier runs stay, so that one can be made anew alone.
/// Where Chart.js (chart.umd.js) comes with the program the page draws with it, else it shows the
/// SVG figures. Throws Error naming the file that cannot be read or written.
void write_report(const std::filesystem::path& directory);

}  // namespace sdm::experiments
