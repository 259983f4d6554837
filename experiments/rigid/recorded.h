#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "experiments/registry.h"
#include "experiments/rigid/scene.h"

namespace sdm::experiments {

/// The camera motion of a recorded video: a homography a line (nine numbers, row by row) that takes
/// the pixels of that frame to a picture of the plane. Gives what takes the pixels of the first
/// frame to those of each frame. Throws Error naming the line that is no homography.
std::vector<rigid::Warp> read_recorded_motion(const std::filesystem::path& file);

/// The middle of a template of the scene's size that stays inside a frame of this size as long as
/// any, and is nearest to the middle of the frame among those; whole pixels and a half.
Eigen::Vector2d template_place(const std::vector<rigid::Warp>& motion, int width, int height);

/// The paper's own motions on the textures, where the recordings are (rigid/ucsb_bricks of the data
/// folder): the table of five motions, then the series of growing speed and blur.
void run_recorded(const ExperimentContext& context, const std::vector<Texture>& textures,
                  Results& results, const std::function<void(double share)>& share);

}  // namespace sdm::experiments
