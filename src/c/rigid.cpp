#include "c/model.h"
#include "c/picture.h"
#include "sdm/rigid/region.h"
#include "sdm/rigid/tracker.h"

using sdm::c::guarded;
using sdm::c::require;

struct sdm_rigid {
  sdm::rigid::Tracker tracker;
  sdm::c::Picture picture;
};

sdm_status sdm_rigid_create(const sdm_model* model, sdm_rigid** tracker) {
  return guarded([&] {
    const auto content =
        sdm::c::content_of<sdm::rigid::TrackerModel>(model, "the model", "'rigid'");
    require(tracker, "tracker");
    *tracker = new sdm_rigid{sdm::rigid::Tracker(*content), {}};
  });
}

void sdm_rigid_free(sdm_rigid* tracker) { delete tracker; }

sdm_status sdm_rigid_update(sdm_rigid* tracker, const sdm_image* frame, sdm_track* track) {
  return guarded([&] {
    require(tracker, "tracker");
    require(track, "track");
    const sdm::rigid::Track found = tracker->tracker.update(tracker->picture.grey(frame));
    sdm_track out{};
    Eigen::Map<sdm::rigid::Quad> corners(out.corners);
    corners = found.corners;
    Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> warp(out.warp);
    warp = found.warp;
    out.difference = found.difference;
    out.correlation = found.correlation;
    out.score = found.score;
    out.lost = found.lost ? 1 : 0;
    *track = out;
  });
}

sdm_status sdm_rigid_restart(sdm_rigid* tracker, const double corners[8]) {
  return guarded([&] {
    require(tracker, "tracker");
    require(corners, "corners");
    const sdm::rigid::Quad quad = Eigen::Map<const sdm::rigid::Quad>(corners);
    sdm::rigid::shape_of(quad);  // refuses what is no place
    tracker->tracker.restart(sdm::rigid::warp_to(tracker->tracker.model().shape, quad));
  });
}

sdm_status sdm_rigid_adapt(sdm_rigid* tracker, int32_t on) {
  return guarded([&] {
    require(tracker, "tracker");
    if (on != 0)
      tracker->tracker.adapt();
    else
      tracker->tracker.first_appearance();
  });
}
