#pragma once

#include "sdm/c.h"
#include "sdm/pose/head_pose.h"

namespace sdm::c {

sdm_head_pose head_pose_of(const pose::HeadPose& pose);

}  // namespace sdm::c
