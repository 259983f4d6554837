// usage: mpi_compare A B TOLERANCE: succeeds if the maps of two cascades differ by no more.

#include <cstdlib>
#include <iostream>

#include "sdm/descent/cascade.h"
#include "sdm/io/file.h"

int main(int, char** argv) {
  const auto a = sdm::Cascade<double>::load(argv[1]);
  const auto b = sdm::Cascade<double>::load(argv[2]);
  double largest = a.stages() == b.stages() ? 0 : 1e300;
  for (std::size_t k = 0; k < a.maps.size() && k < b.maps.size(); ++k) {
    largest = std::max(largest, (a.maps[k].matrix() - b.maps[k].matrix()).cwiseAbs().maxCoeff());
    largest = std::max(largest, (a.maps[k].bias() - b.maps[k].bias()).cwiseAbs().maxCoeff());
  }
  std::cout << "largest difference " << largest << '\n';
  return largest <= std::atof(argv[3]) ? 0 : 1;
}
