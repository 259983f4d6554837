#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/results.h"

namespace sdm::report {

/// A part of the page: an experiment. The description is a heading, a colon and a sentence.
struct Section {
  std::string name, description;
};

/// Writes the part to DIR/NAME/section.html: what ran and how, its exhibits with their pictures
/// inside, its settings; or why there is nothing to show.
void write_section(const Section& section, const Results& results,
                   const std::filesystem::path& directory);

/// Puts the parts in DIR together in this order: index.html, one file that needs no network, and
/// results.json and results.csv with every number. Parts of earlier runs stay, so that one can be
/// made anew alone. With the path of Chart.js (chart.umd.js) the page draws with it, without it
/// shows the SVG figures. Throws Error naming the file that cannot be read or written.
void write_page(const std::vector<Section>& sections, const std::filesystem::path& directory,
                const std::filesystem::path& chart_library = {});

}  // namespace sdm::report
