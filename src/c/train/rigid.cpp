#include "c/model.h"
#include "c/picture.h"
#include "c/train/progress.h"
#include "sdm/rigid/train/train_tracker.h"

using sdm::c::guarded;
using sdm::c::options_of;
using sdm::c::require;

void sdm_rigid_train_options_init(sdm_rigid_train_options* options) {
  const sdm::rigid::TrainTrackerOptions defaults;
  *options = {};
  options->size = sizeof(*options);
  options->motion = static_cast<int32_t>(defaults.motion);
  options->samples = defaults.samples;
  options->stages = defaults.stages;
  options->search = defaults.search;
  options->scan = defaults.scan ? 1 : 0;
  options->seed = defaults.seed;
  options->threads = defaults.threads;
}

sdm_status sdm_rigid_train(const sdm_image* frame, const double corners[8],
                           const sdm_rigid_train_options* options, sdm_model** model,
                           double* uncertainty) {
  return guarded([&] {
    require(corners, "corners");
    require(model, "model");
    const sdm_rigid_train_options o = options_of(options, sdm_rigid_train_options_init);
    if (o.motion < SDM_TRANSLATION || o.motion > SDM_HOMOGRAPHY)
      throw sdm::Error("the motion is " + std::to_string(o.motion) +
                       ", expected SDM_TRANSLATION, _SIMILARITY, _AFFINE or _HOMOGRAPHY");
    sdm::rigid::TrainTrackerOptions training;
    training.motion = static_cast<sdm::rigid::Motion>(o.motion);
    training.samples = o.samples;
    training.stages = o.stages;
    training.coarse_stages = std::min(training.coarse_stages, training.stages);
    training.search = o.search;
    training.scan = o.scan != 0;
    training.seed = o.seed;
    training.threads = o.threads;
    training.provenance = sdm::c::text_or(o.provenance, "");
    sdm::c::Picture picture;
    const auto trained = sdm::rigid::train_tracker(
        picture.grey(frame), Eigen::Map<const sdm::rigid::Quad>(corners), training);
    *model = sdm::c::make_model_of<sdm::rigid::TrackerModel>(trained.tracker.model());
    if (uncertainty != nullptr) *uncertainty = trained.uncertainty;
  });
}
