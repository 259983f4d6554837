#include "c/model.h"

#include <cstdlib>

#include "sdm/io/bytes.h"

namespace sdm::c {
namespace {

template <class T>
void set_content(sdm_model& model) {
  model.content = std::make_shared<const T>(T::from_model(model.file));
}

}  // namespace

sdm_model* make_model(io::Model file) {
  auto model = std::make_unique<sdm_model>();
  model->file = std::move(file);
  const std::string& kind = model->file.kind;
  if (kind == "face" || kind == "face-on-base") set_content<face::Model>(*model);
  if (kind == "detector") set_content<face::DetectorModel>(*model);
  if (kind == "face-adaptation") set_content<face::Adaptation>(*model);
  if (kind == "rigid") set_content<rigid::TrackerModel>(*model);
  if (kind == "pose") set_content<pose::Estimator>(*model);
  if (kind == "learned") set_content<LearnedModel>(*model);
  if (kind == "cascade") set_content<Cascade<double>>(*model);
  if (kind == "online") set_content<OnlineCascade<double>>(*model);
  return model.release();
}

}  // namespace sdm::c

using sdm::c::guarded;
using sdm::c::require;

sdm_status sdm_model_read(const uint8_t* bytes, size_t size, sdm_model** model) {
  return guarded([&] {
    require(bytes, "bytes");
    require(model, "model");
    *model = sdm::c::make_model(sdm::io::read(std::as_bytes(std::span(bytes, size))));
  });
}

sdm_status sdm_model_bytes(const sdm_model* model, uint8_t** bytes, size_t* size) {
  return guarded([&] {
    require(model, "model");
    require(bytes, "bytes");
    require(size, "size");
    const std::vector<std::byte> file = sdm::io::to_bytes(model->file);
    auto* copy = static_cast<uint8_t*>(std::malloc(file.size()));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, file.data(), file.size());
    *bytes = copy;
    *size = file.size();
  });
}

const char* sdm_model_kind(const sdm_model* model) {
  return model == nullptr ? "" : model->file.kind.c_str();
}

sdm_status sdm_model_info(const sdm_model* model, char** json) {
  return guarded([&] {
    require(model, "model");
    require(json, "json");
    *json = sdm::c::copy_text(sdm::io::describe_json(model->file));
  });
}

void sdm_model_free(sdm_model* model) { delete model; }
