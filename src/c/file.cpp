#include "sdm/io/file.h"

#include "c/model.h"

using sdm::c::guarded;
using sdm::c::require;

namespace {

// The path is UTF-8 on every system.
std::filesystem::path path_of(const char* path) {
  const std::string text(path);
  return std::filesystem::path(std::u8string(text.begin(), text.end()));
}

}  // namespace

sdm_status sdm_model_load(const char* path, sdm_model** model) {
  return guarded([&] {
    require(path, "path");
    require(model, "model");
    sdm::io::Model file = sdm::io::read(path_of(path));
    try {
      *model = sdm::c::make_model(std::move(file));
    } catch (const sdm::Error& error) {
      throw sdm::Error(std::string(path) + ": " + error.what());
    }
  });
}

sdm_status sdm_model_save(const sdm_model* model, const char* path) {
  return guarded([&] {
    require(model, "model");
    require(path, "path");
    sdm::io::write(path_of(path), model->file);
  });
}
