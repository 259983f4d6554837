/* What the C interface lacks for JavaScript: function pointers that lead out of the module. And a
 * check of where the fields lie that src/layout.js reads and writes. */
#include <sdm/c.h>
#include <stddef.h>

#define IMPORT(name) __attribute__((import_module("sdm"), import_name(#name)))

/* The caller's functions, each by a number; anything but 0 ends the call that asked. */
IMPORT(sdm_web_function)
int32_t sdm_web_function(int32_t id, int32_t count, const double* x, ptrdiff_t x_stride,
                         double* out, ptrdiff_t out_stride);
IMPORT(sdm_web_progress)
int32_t sdm_web_progress(int32_t id, const char* activity, double share, double seconds_left);

static int32_t call_function(void* user, int64_t count, const double* x, ptrdiff_t x_stride,
                             double* out, ptrdiff_t out_stride) {
  return sdm_web_function((int32_t)user, (int32_t)count, x, x_stride, out, out_stride);
}

static int32_t call_progress(void* user, const char* activity, double share, double seconds_left) {
  return sdm_web_progress((int32_t)user, activity, share, seconds_left);
}

/* What to write into a problem's h, and into the progress of options. */
sdm_function sdm_web_h(void) { return call_function; }
sdm_progress sdm_web_progress_of(void) { return call_progress; }

#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)

AT(sdm_image, data, 0);
AT(sdm_image, width, 4);
AT(sdm_image, height, 8);
AT(sdm_image, stride, 12);
AT(sdm_image, format, 16);
SIZE(sdm_image, 20);

AT(sdm_head_pose, rotation, 24);
AT(sdm_head_pose, scale, 96);
AT(sdm_head_pose, position, 104);
AT(sdm_head_pose, reprojection_error, 120);
SIZE(sdm_head_pose, 128);

AT(sdm_face, box, 0);
AT(sdm_face, roll, 16);
AT(sdm_face, score, 20);
AT(sdm_face, id, 24);
AT(sdm_face, detected, 28);
AT(sdm_face, points, 32);
AT(sdm_face, has_pose, 36);
AT(sdm_face, xy, 40);
AT(sdm_face, visible, 44);
AT(sdm_face, pose, 48);
SIZE(sdm_face, 176);

AT(sdm_detector_options, smallest, 4);
AT(sdm_detector_options, largest, 8);
AT(sdm_detector_options, min_score, 12);
AT(sdm_detector_options, threshold, 16);
AT(sdm_detector_options, region, 20);
AT(sdm_detector_options, most, 36);
AT(sdm_detector_options, candidates, 40);
AT(sdm_detector_options, max_side, 44);
AT(sdm_detector_options, doubled, 48);
SIZE(sdm_detector_options, 52);

AT(sdm_tracker_options, faces, 4);
AT(sdm_tracker_options, threshold, 8);
AT(sdm_tracker_options, search_every, 12);
AT(sdm_tracker_options, memory, 16);
AT(sdm_tracker_options, smooth, 20);
SIZE(sdm_tracker_options, 24);

AT(sdm_track, corners, 0);
AT(sdm_track, warp, 64);
AT(sdm_track, difference, 136);
AT(sdm_track, correlation, 144);
AT(sdm_track, score, 152);
AT(sdm_track, lost, 160);
SIZE(sdm_track, 168);

AT(sdm_pose_options, refine_steps, 4);
AT(sdm_pose_options, outlier_pixels, 8);
SIZE(sdm_pose_options, 16);

AT(sdm_problem, states, 4);
AT(sdm_problem, features, 8);
AT(sdm_problem, h, 12);
AT(sdm_problem, user, 24);
AT(sdm_problem, block, 28);
SIZE(sdm_problem, 32);

AT(sdm_solve_options, confidence, 8);
AT(sdm_solve_options, refine, 16);
AT(sdm_solve_options, further_starts, 20);
AT(sdm_solve_options, threads, 24);
SIZE(sdm_solve_options, 32);

AT(sdm_answers, x, 0);
AT(sdm_answers, radius, 4);
AT(sdm_answers, status, 8);
AT(sdm_answers, residual, 12);
AT(sdm_answers, relative_residual, 16);
SIZE(sdm_answers, 20);

AT(sdm_learn_options, lower, 4);
AT(sdm_learn_options, upper, 8);
AT(sdm_learn_options, log, 12);
AT(sdm_learn_options, noise, 16);
AT(sdm_learn_options, sigma, 20);
AT(sdm_learn_options, sigma_count, 24);
AT(sdm_learn_options, x0, 28);
AT(sdm_learn_options, samples, 32);
AT(sdm_learn_options, calibration, 40);
AT(sdm_learn_options, evaluations, 48);
AT(sdm_learn_options, seconds, 56);
AT(sdm_learn_options, max_stages, 64);
AT(sdm_learn_options, max_order, 68);
AT(sdm_learn_options, max_bits, 72);
AT(sdm_learn_options, max_components, 76);
AT(sdm_learn_options, seed, 80);
AT(sdm_learn_options, threads, 88);
AT(sdm_learn_options, progress, 92);
AT(sdm_learn_options, progress_user, 96);
SIZE(sdm_learn_options, 104);

AT(sdm_train_options, stages, 4);
AT(sdm_train_options, penalty, 8);
AT(sdm_train_options, folds, 16);
AT(sdm_train_options, online, 20);
AT(sdm_train_options, seed, 24);
AT(sdm_train_options, threads, 32);
SIZE(sdm_train_options, 48);

AT(sdm_rigid_train_options, motion, 4);
AT(sdm_rigid_train_options, samples, 8);
AT(sdm_rigid_train_options, stages, 16);
AT(sdm_rigid_train_options, search, 24);
AT(sdm_rigid_train_options, scan, 32);
AT(sdm_rigid_train_options, seed, 40);
AT(sdm_rigid_train_options, threads, 48);
SIZE(sdm_rigid_train_options, 56);

AT(sdm_pose_train_options, fx, 8);
AT(sdm_pose_train_options, fy, 16);
AT(sdm_pose_train_options, cx, 24);
AT(sdm_pose_train_options, cy, 32);
AT(sdm_pose_train_options, centre, 40);
AT(sdm_pose_train_options, rotation, 64);
AT(sdm_pose_train_options, translation, 88);
AT(sdm_pose_train_options, noise_pixels, 112);
AT(sdm_pose_train_options, stages, 120);
AT(sdm_pose_train_options, cells, 124);
AT(sdm_pose_train_options, samples, 128);
AT(sdm_pose_train_options, seed, 136);
AT(sdm_pose_train_options, threads, 144);
SIZE(sdm_pose_train_options, 160);
