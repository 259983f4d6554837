#include "sdm/descent/train/train_partition.h"

#include "base/formatted.h"

namespace sdm {

std::vector<std::vector<Index>> detail::members_of_cells(const std::vector<Index>& cell_of,
                                                         Index samples, Index cells) {
  if (static_cast<Index>(cell_of.size()) != samples)
    throw Error(formatted("{} cell numbers for {} samples", cell_of.size(), samples));
  if (cells < 1) throw Error(formatted("{} cells, expected at least one", cells));
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(cells));
  for (Index i = 0; i < samples; ++i) {
    const Index cell = cell_of[static_cast<std::size_t>(i)];
    if (cell < 0 || cell >= cells)
      throw Error(formatted("sample {} is in cell {} of {}", i, cell, cells));
    members[static_cast<std::size_t>(cell)].push_back(i);
  }
  return members;
}

}  // namespace sdm
