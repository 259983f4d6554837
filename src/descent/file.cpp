#include "sdm/io/file.h"

#include "sdm/descent/learned.h"
#include "sdm/descent/online.h"
#include "sdm/descent/partition.h"

namespace sdm {

template <class Scalar>
void Cascade<Scalar>::save(const std::filesystem::path& path) const {
  io::write(path, to_model());
}

template <class Scalar>
Cascade<Scalar> Cascade<Scalar>::load(const std::filesystem::path& path) {
  return io::load<Cascade>(path);
}

template <class Scalar>
void OnlineCascade<Scalar>::save(const std::filesystem::path& path) const {
  io::write(path, to_model());
}

template <class Scalar>
OnlineCascade<Scalar> OnlineCascade<Scalar>::load(const std::filesystem::path& path) {
  return io::load<OnlineCascade>(path);
}

template <class Scalar>
void Partition<Scalar>::save(const std::filesystem::path& path) const {
  io::write(path, to_model());
}

template <class Scalar>
Partition<Scalar> Partition<Scalar>::load(const std::filesystem::path& path) {
  return io::load<Partition>(path);
}

void Learned::save(const std::filesystem::path& path) const { io::write(path, to_model()); }

Learned Learned::load(const std::filesystem::path& path, AnyFunction h, StartRule start) {
  return {io::load<LearnedModel>(path), std::move(h), std::move(start)};
}

#define SDM_INSTANTIATE(Scalar)                                                             \
  template void Cascade<Scalar>::save(const std::filesystem::path&) const;                  \
  template Cascade<Scalar> Cascade<Scalar>::load(const std::filesystem::path&);             \
  template void OnlineCascade<Scalar>::save(const std::filesystem::path&) const;            \
  template OnlineCascade<Scalar> OnlineCascade<Scalar>::load(const std::filesystem::path&); \
  template void Partition<Scalar>::save(const std::filesystem::path&) const;                \
  template Partition<Scalar> Partition<Scalar>::load(const std::filesystem::path&);
SDM_INSTANTIATE(float)
SDM_INSTANTIATE(double)
#undef SDM_INSTANTIATE

}  // namespace sdm
