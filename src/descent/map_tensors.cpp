#include "descent/map_tensors.h"

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm {

template <class Scalar>
void put_maps(io::Model& model, const std::string& prefix,
              const std::vector<DescentMap<Scalar>>& maps) {
  for (std::size_t k = 0; k < maps.size(); ++k) {
    if (maps[k].rank() > 0)
      model.put(formatted("{}stage{}.left", prefix, k), io::to_tensor(maps[k].left()));
    model.put(formatted("{}stage{}.right", prefix, k), io::to_tensor(maps[k].right()));
    model.put(formatted("{}stage{}.bias", prefix, k), io::to_tensor(maps[k].bias()));
  }
}

template <class Scalar>
std::vector<DescentMap<Scalar>> get_maps(const io::Model& model, const std::string& prefix,
                                         int stages) {
  if (stages < 0 || static_cast<std::size_t>(stages) > model.tensors.size())
    throw Error(
        formatted("the model says {} stages but has {} tensors", stages, model.tensors.size()));
  std::vector<DescentMap<Scalar>> maps;
  for (int k = 0; k < stages; ++k) {
    auto right = model.matrix<Scalar>(formatted("{}stage{}.right", prefix, k));
    auto bias = model.vector<Scalar>(formatted("{}stage{}.bias", prefix, k));
    const std::string left = formatted("{}stage{}.left", prefix, k);
    if (model.tensors.contains(left))
      maps.emplace_back(model.matrix<Scalar>(left), std::move(right), std::move(bias));
    else
      maps.emplace_back(std::move(right), std::move(bias));
    if (maps.back().delta_size() != maps.front().delta_size())
      throw Error(formatted("stage {} of the model moves {} values, expected {} as in stage 0", k,
                            maps.back().delta_size(), maps.front().delta_size()));
  }
  return maps;
}

#define SDM_INSTANTIATE(Scalar)                                                                   \
  template void put_maps(io::Model&, const std::string&, const std::vector<DescentMap<Scalar>>&); \
  template std::vector<DescentMap<Scalar>> get_maps(const io::Model&, const std::string&, int);
SDM_INSTANTIATE(float)
SDM_INSTANTIATE(double)
#undef SDM_INSTANTIATE

}  // namespace sdm
