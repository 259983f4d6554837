#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "report/plot.h"

namespace sdm::report {

struct Figure {
  std::vector<Chart> charts;
  int columns = 2;  // of the SVG file; the page takes as many as fit
};

/// Lines of text cells; the first line is the heading.
struct Table {
  std::vector<std::vector<std::string>> lines;
};

struct Picture {
  std::filesystem::path file;  // .jpg or .png, in the experiment's folder
  std::string caption;
};

struct Gallery {
  std::vector<Picture> pictures;
};

/// One thing the report page shows of an experiment.
struct Exhibit {
  std::string name;  // of its file and of its place in the page
  std::string title;
  std::string paper;   // what the paper reports and where; empty: the paper has nothing like it
  std::string remark;  // what there is to see, and what it does not show
  std::variant<Figure, Table, Gallery> content;
};

/// A line of the table that opens the page: what the paper claims, what we reach and what others
/// reach in the same run.
struct Claim {
  std::string claim, paper, ours, others;
};

}  // namespace sdm::report
