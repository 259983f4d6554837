#pragma once

#include <cstddef>
#include <span>

#include "sdm/image/hog.h"
#include "sdm/image/image_view.h"
#include "sdm/image/warp.h"

// What the public calls demand, shared by the vector kernels and their scalar twins. All throw
// sdm::Error.
namespace sdm::image::checks {

void same_size(int src_width, int src_height, int dst_width, int dst_height);
void source(int width, int height);
void map(std::span<const double> entries);
void shrink(ByteView src, int factor, ImageView<std::uint8_t> dst);
void hog(const GradientChannels& channels, Eigen::Index points, const HogOptions& options,
         std::size_t out);
void cell_grid(ByteView src, int cell, int margin);
void dense_hog(int width, int height, const DenseHogOptions& options, std::size_t out);

}  // namespace sdm::image::checks
