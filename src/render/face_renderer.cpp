#include "sdm/render/face_renderer.h"

#include <algorithm>

#include "base/formatted.h"
#include "render/drawing.h"
#include "render/photograph.h"
#include "render/skin.h"
#include "render/studio.h"
#include "sdm/base/error.h"

namespace sdm::render {

void RenderOptions::validate() const {
  if (!(size >= 24 && size <= 2000))
    throw Error(formatted("faces of {} px, expected 24 to 2000", size));
  if (!(yaw >= 0 && yaw <= 80))
    throw Error(formatted("a yaw of {} degrees, expected 0 to 80", yaw));
}

struct FaceRenderer::State {
  Studio studio;
  std::unique_ptr<SkinMap> skin_map;
  std::filesystem::path skin_mesh;  // that it is of
};

FaceRenderer::FaceRenderer(HeadModel head, const RenderOptions& options, ThreadPool& pool) {
  options.validate();
  state_ = std::make_unique<State>(State{{std::move(head), options, pool}, nullptr, {}});
}
FaceRenderer::~FaceRenderer() = default;
FaceRenderer::FaceRenderer(FaceRenderer&&) noexcept = default;
FaceRenderer& FaceRenderer::operator=(FaceRenderer&&) noexcept = default;

void FaceRenderer::add_skin(image::ByteView texture, const std::filesystem::path& mesh) {
  if (texture.width < 3 || texture.height < 3)
    throw Error(formatted("a skin of {} x {} pixels", texture.width, texture.height));
  if (!state_->skin_map || state_->skin_mesh != mesh) {
    state_->skin_map = std::make_unique<SkinMap>(map_skin(mesh, state_->studio.head));
    state_->skin_mesh = mesh;
  }
  state_->studio.skins.push_back(carry_skin(texture, *state_->skin_map, state_->studio.layout));
}

void FaceRenderer::add_background(image::ByteView picture) {
  image::Image<std::uint8_t> copy(picture.width, picture.height);
  for (int y = 0; y < picture.height; ++y)
    std::copy(picture.row(y), picture.row(y) + picture.width, copy.view().row(y));
  state_->studio.backgrounds.push_back(std::move(copy));
}

RenderedFace FaceRenderer::draw(std::uint64_t number) const {
  return draw_face(state_->studio, number);
}

image::Image<std::uint8_t> FaceRenderer::draw_background(int width, int height,
                                                         std::uint64_t number) const {
  Random random(state_->studio.options.seed, "render empty", number);
  Field field =
      make_background(width, height, state_->studio.backgrounds, state_->studio.noise, random);
  return photograph(std::move(field), state_->studio.options.camera, state_->studio.noise, random);
}

}  // namespace sdm::render
