/* The C interface as a program in C sees it: what it refuses, what it keeps, what it cancels.
 *
 *     c_test MODELS
 */
#include <math.h>
#include <sdm/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                         \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, \
              sdm_last_error());                                                  \
      ++failures;                                                                 \
    }                                                                             \
  } while (0)

static int says(const char* part) { return strstr(sdm_last_error(), part) != NULL; }

static int32_t line(void* user, int64_t count, const double* x, ptrdiff_t xs, double* out,
                    ptrdiff_t os) {
  (void)user;
  for (int f = 0; f < 8; ++f)
    for (int64_t i = 0; i < count; ++i) out[f * os + i] = x[i] + x[xs + i] * f;
  return 0;
}

static int32_t gives_up(void* user, int64_t count, const double* x, ptrdiff_t xs, double* out,
                        ptrdiff_t os) {
  (void)user, (void)count, (void)x, (void)xs, (void)out, (void)os;
  return 1;
}

static int32_t stop(void* user, const char* activity, double share, double left) {
  (void)activity, (void)share, (void)left;
  ++*(int*)user;
  return 1;
}

static const double lower[2] = {-1, -1}, upper[2] = {1, 1}, sigma = 0.01;

static sdm_problem problem_of(sdm_function h) {
  sdm_problem problem;
  sdm_problem_init(&problem);
  problem.states = 2;
  problem.features = 8;
  problem.h = h;
  return problem;
}

static sdm_learn_options options_of(void) {
  sdm_learn_options options;
  sdm_learn_options_init(&options);
  options.lower = lower;
  options.upper = upper;
  options.noise = SDM_NOISE_GAUSSIAN;
  options.sigma = &sigma;
  options.sigma_count = 1;
  options.samples = 2000;
  options.calibration = 1000;
  return options;
}

static void wrong_arguments_are_refused_in_a_sentence(void) {
  sdm_model* model = (sdm_model*)&failures;
  EXPECT(sdm_model_load("no/such/file.sdm", &model) == SDM_ERROR);
  EXPECT(says("no/such/file.sdm"));
  EXPECT(model == (sdm_model*)&failures); /* results are left alone */
  EXPECT(sdm_model_load(NULL, &model) == SDM_ERROR);
  EXPECT(says("path is NULL"));
  EXPECT(sdm_model_read((const uint8_t*)"PK", 2, &model) == SDM_ERROR);
  sdm_problem problem = problem_of(NULL);
  sdm_learn_options options = options_of();
  sdm_learned* learned = NULL;
  EXPECT(sdm_learn(&problem, &options, &learned) == SDM_ERROR);
  EXPECT(says("no function"));
  problem = problem_of(line);
  options.size = 0; /* nobody called init */
  EXPECT(sdm_learn(&problem, &options, &learned) == SDM_ERROR);
  EXPECT(says("init"));
  sdm_model_free(NULL);
  sdm_detector_free(NULL);
}

static void a_function_or_an_observer_can_end_a_training(void) {
  sdm_problem problem = problem_of(gives_up);
  sdm_learn_options options = options_of();
  sdm_learned* learned = NULL;
  EXPECT(sdm_learn(&problem, &options, &learned) == SDM_CANCELLED);
  problem = problem_of(line);
  int told = 0;
  options.progress = stop;
  options.progress_user = &told;
  EXPECT(sdm_learn(&problem, &options, &learned) == SDM_CANCELLED);
  EXPECT(told == 1);
  EXPECT(learned == NULL);
}

static int32_t slow_decay(void* user, int64_t count, const double* x, ptrdiff_t xs, double* out,
                          ptrdiff_t os) {
  (void)user, (void)xs;
  for (int t = 0; t < 8; ++t)
    for (int64_t i = 0; i < count; ++i) out[t * os + i] = exp(-1e-11 * t / x[i]) + sqrt(x[i]);
  return 0;
}

/* Seconds, farads, metres: a state may be of any size, and end where h does. */
static void small_states_are_refined_by_functions_that_cost_much(void) {
  sdm_problem problem = problem_of(slow_decay);
  problem.states = 1;
  problem.block = 4096;
  const double truth = 1e-10, zero = 0;
  double y[8], x = 0.8e-10;
  slow_decay(NULL, 1, &truth, 1, y, 1);
  sdm_refine_options options;
  sdm_refine_options_init(&options);
  options.lower = &zero;
  EXPECT(sdm_refine(&problem, y, &x, &options, NULL, NULL) == SDM_OK);
  EXPECT(fabs(x - truth) < 1e-14);
  problem.block = 63;
  EXPECT(sdm_refine(&problem, y, &x, &options, NULL, NULL) == SDM_ERROR);
  EXPECT(says("at least 64"));
}

/* A program that was compiled when there were fewer options. */
static void shorter_options_leave_the_rest_at_its_default(void) {
  sdm_solve_options options;
  sdm_solve_options_init(&options);
  options.confidence = 0.5;
  options.refine = 99; /* beyond the size told, so not read */
  options.size = offsetof(sdm_solve_options, refine);
  sdm_problem problem = problem_of(line);
  sdm_learn_options learning = options_of();
  sdm_learned* learned = NULL;
  EXPECT(sdm_learn(&problem, &learning, &learned) == SDM_OK);
  double y[2 * 9], x[4], radius_half[4], radius[4];
  for (int i = 0; i < 18; ++i) y[i] = 1e9;          /* the ninth of each row is nobody's */
  const double truth[4] = {0.25, 0.5, -0.5, 0.125}; /* value by value: two states */
  double out[16];
  line(NULL, 2, truth, 2, out, 2);
  for (int f = 0; f < 8; ++f)
    for (int i = 0; i < 2; ++i) y[i * 9 + f] = out[f * 2 + i];
  sdm_answers answers = {x, radius_half, NULL, NULL, NULL};
  EXPECT(sdm_learned_solve(learned, 2, y, 9, &options, &answers) == SDM_OK);
  EXPECT(fabs(x[0] - 0.25) < 0.05 && fabs(x[1] + 0.5) < 0.05); /* state by state: 0.25, -0.5 */
  EXPECT(fabs(x[2] - 0.5) < 0.05 && fabs(x[3] - 0.125) < 0.05);
  answers.radius = radius;
  EXPECT(sdm_learned_solve(learned, 2, y, 9, NULL, &answers) == SDM_OK);
  EXPECT(radius[0] > radius_half[0]); /* 0.99 is the default */
  y[3] = NAN;
  EXPECT(sdm_learned_solve(learned, 2, y, 9, NULL, &answers) == SDM_ERROR);
  EXPECT(says("measurement 0"));
  EXPECT(sdm_learned_solve(learned, 2, y, 7, NULL, &answers) == SDM_ERROR);

  /* Stored without h, and back. */
  sdm_model *stored = NULL, *again = NULL;
  uint8_t* bytes = NULL;
  size_t size = 0;
  EXPECT(sdm_learned_model(learned, &stored) == SDM_OK);
  EXPECT(sdm_model_bytes(stored, &bytes, &size) == SDM_OK);
  EXPECT(sdm_model_read(bytes, size, &again) == SDM_OK);
  EXPECT(strcmp(sdm_model_kind(again), "learned") == 0);
  sdm_free(bytes);
  sdm_learned* loaded = NULL;
  problem.features = 5;
  EXPECT(sdm_learned_create(again, &problem, &loaded) == SDM_ERROR);
  problem.features = 0;
  EXPECT(sdm_learned_create(again, &problem, &loaded) == SDM_OK);
  double same[4];
  y[3] = out[3 * 2];
  answers.x = same;
  EXPECT(sdm_learned_solve(loaded, 2, y, 9, NULL, &answers) == SDM_OK);
  EXPECT(memcmp(x, same, sizeof x) == 0);
  sdm_model_free(stored);
  sdm_model_free(again);
  sdm_learned_free(loaded);
  sdm_learned_free(learned);
}

static void a_cascade_learns_on_and_is_certified(void) {
  sdm_problem problem = problem_of(line);
  enum { kSamples = 60 };
  double targets[2 * kSamples], measured[8 * kSamples], start[2] = {0, 0};
  for (int i = 0; i < kSamples; ++i) {
    targets[2 * i] = sin(i);
    targets[2 * i + 1] = cos(3 * i);
    line(NULL, 1, targets + 2 * i, 1, measured + 8 * i, 1);
  }
  sdm_train_options options;
  sdm_train_options_init(&options);
  sdm_cascade* cascade = NULL;
  EXPECT(sdm_cascade_train(&problem, kSamples, start, 1, targets, measured, &options, &cascade) ==
         SDM_OK);
  double x[2] = {0, 0}, residual = -1;
  EXPECT(sdm_cascade_solve(cascade, &problem, measured + 8 * 7, x, &residual) == SDM_OK);
  EXPECT(fabs(x[0] - targets[14]) < 1e-4 && fabs(x[1] - targets[15]) < 1e-4);
  EXPECT(residual < 1e-3);
  EXPECT(sdm_cascade_update(cascade, &problem, measured, start, targets, 1, 1) == SDM_ERROR);
  EXPECT(says("online"));
  double r[16];
  EXPECT(sdm_cascade_map(cascade, 0, r, NULL) == SDM_OK);
  EXPECT(sdm_cascade_map(cascade, 9, r, NULL) == SDM_ERROR);
  sdm_certificate certificate;
  EXPECT(sdm_certify(&problem, r, start, kSamples, targets, &certificate) == SDM_OK);
  EXPECT(certificate.monotone == 1 && certificate.contraction < 0.01); /* h is linear */
  sdm_cascade_free(cascade);
  options.online = 1;
  options.penalty = 1e-3;
  EXPECT(sdm_cascade_train(&problem, kSamples, start, 1, targets, measured, &options, &cascade) ==
         SDM_OK);
  EXPECT(sdm_cascade_update(cascade, &problem, measured, start, targets, 1, 1) == SDM_OK);
  sdm_cascade_free(cascade);
}

static void models_outlive_their_handles_and_the_other_way_round(const char* folder) {
  char path[4096], other[4096];
  snprintf(path, sizeof path, "%s/face68-fast.sdm", folder);
  snprintf(other, sizeof other, "%s/face-detector.sdm", folder);
  sdm_model *face = NULL, *windows = NULL;
  EXPECT(sdm_model_load(path, &face) == SDM_OK);
  EXPECT(sdm_model_load(other, &windows) == SDM_OK);
  sdm_aligner* aligner = NULL;
  EXPECT(sdm_aligner_create(windows, &aligner) == SDM_ERROR);
  EXPECT(says("'detector'"));
  EXPECT(sdm_aligner_create(face, &aligner) == SDM_OK);
  sdm_model_free(face);
  sdm_model_free(windows);
  uint8_t pixels[60 * 80];
  for (int i = 0; i < 60 * 80; ++i) pixels[i] = (uint8_t)(i * 7);
  sdm_image image = {pixels, 80, 60, 80, SDM_GREY};
  const float box[4] = {10, 10, 40, 40}, flat[4] = {10, 10, 0, 0};
  sdm_face found;
  EXPECT(sdm_aligner_align(aligner, &image, box, NULL, &found) == SDM_OK);
  EXPECT(found.points == 68 && isfinite(found.xy[0]) && found.score >= 0 && found.score <= 1);
  EXPECT(sdm_aligner_align(aligner, &image, flat, NULL, &found) == SDM_ERROR);
  EXPECT(sdm_aligner_align(aligner, &image, box, "nobody", &found) == SDM_ERROR);
  image.stride = 79;
  EXPECT(sdm_aligner_align(aligner, &image, box, NULL, &found) == SDM_ERROR);
  image.stride = PTRDIFF_MIN;
  EXPECT(sdm_aligner_align(aligner, &image, box, NULL, &found) == SDM_ERROR);
  image.stride = 80;
  image.format = 17;
  EXPECT(sdm_aligner_align(aligner, &image, box, NULL, &found) == SDM_ERROR);
  EXPECT(says("17"));
  sdm_aligner_free(aligner);
}

/* Blobs of light whose places are known; the same for the same seed. */
enum { kSide = 64, kPictures = 40, kPoints = 4 };
static unsigned random_state = 1;
static double draw(double low, double high) {
  random_state = random_state * 1664525u + 1013904223u;
  return low + (high - low) * (random_state >> 8) / 16777216.0;
}

static void paint(uint8_t* pixels, float* xy, float* box) {
  const double x = draw(24, 40), y = draw(24, 40), half = draw(9, 13);
  for (int row = 0; row < kSide; ++row)
    for (int column = 0; column < kSide; ++column) {
      const int inside = fabs(column - x) < half && fabs(row - y) < half;
      pixels[row * kSide + column] = (uint8_t)((inside ? 200 : 60) + draw(-12, 12));
    }
  const double corners[8] = {-1, -1, 1, -1, 1, 1, -1, 1};
  for (int i = 0; i < kPoints; ++i) {
    xy[2 * i] = (float)(x + half * corners[2 * i]);
    xy[2 * i + 1] = (float)(y + half * corners[2 * i + 1]);
  }
  box[0] = (float)(x - half + draw(-1, 1));
  box[1] = (float)(y - half + draw(-1, 1));
  box[2] = box[3] = (float)(2 * half);
}

static void landmarks_are_learned_measured_and_adapted(void) {
  static uint8_t pixels[kPictures][kSide * kSide];
  static float xy[kPictures][2 * kPoints], boxes[kPictures][4];
  sdm_image images[kPictures];
  for (int i = 0; i < kPictures; ++i) {
    paint(pixels[i], xy[i], boxes[i]);
    const sdm_image image = {pixels[i], kSide, kSide, kSide, SDM_GREY};
    images[i] = image;
  }
  sdm_face_train_options options;
  sdm_face_train_options_init(&options);
  options.budget = 1;
  options.threads = 1;
  sdm_model* model = NULL;
  char* report = NULL;
  EXPECT(sdm_face_train(kPictures, images, kPoints, xy[0], boxes[0], &options, &model, &report) ==
         SDM_OK);
  EXPECT(report != NULL && strstr(report, "held-out") != NULL);
  sdm_free(report);
  int32_t points = 0;
  EXPECT(sdm_face_points(model, &points) == SDM_OK && points == kPoints);
  double errors[kPictures], by_point[kPoints];
  static float found[kPictures][2 * kPoints];
  sdm_face_evaluation evaluation;
  EXPECT(sdm_face_evaluate(model, kPictures, images, xy[0], boxes[0], SDM_PIXELS, 0, errors,
                           by_point, found[0], &evaluation) == SDM_OK);
  EXPECT(evaluation.faces == kPictures && evaluation.median < 1.5);
  EXPECT(sdm_face_evaluate(model, 1, images, xy[0], NULL, SDM_PIXELS, 0, NULL, NULL, NULL,
                           &evaluation) == SDM_ERROR);
  EXPECT(says("boxes"));

  sdm_model *state = NULL, *adapted = NULL;
  EXPECT(sdm_face_adaptation(model, kPictures, images, xy[0], &state) == SDM_OK);
  sdm_adapter* adapter = NULL;
  EXPECT(sdm_adapter_create(model, model, &adapter) == SDM_ERROR);
  EXPECT(sdm_adapter_create(model, state, &adapter) == SDM_OK);
  EXPECT(sdm_adapter_update(adapter, &images[0], xy[0], NULL) == SDM_OK);
  EXPECT(sdm_adapter_result(adapter, &adapted, NULL) == SDM_OK);
  EXPECT(strcmp(sdm_model_kind(adapted), sdm_model_kind(model)) == 0);
  sdm_model_free(adapted);
  sdm_adapter_free(adapter);
  sdm_model_free(state);

  int told = 0;
  options.progress = stop;
  options.progress_user = &told;
  sdm_model* none = NULL;
  EXPECT(sdm_face_train(kPictures, images, kPoints, xy[0], boxes[0], &options, &none, NULL) ==
         SDM_CANCELLED);
  EXPECT(told >= 1 && none == NULL);
  options.progress = NULL;
  options.budget = NAN;
  EXPECT(sdm_face_train(kPictures, images, kPoints, xy[0], boxes[0], &options, &none, NULL) ==
         SDM_ERROR);
  EXPECT(says("budget"));
  sdm_model_free(model);
}

/* The same picture, however its pixels lie in memory, gives the same answer. */
static void pictures_may_lie_in_memory_as_they_like(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/face68-fast.sdm", folder);
  sdm_model* face = NULL;
  sdm_aligner* aligner = NULL;
  EXPECT(sdm_model_load(path, &face) == SDM_OK);
  EXPECT(sdm_aligner_create(face, &aligner) == SDM_OK);
  enum { kWidth = 50, kHeight = 40 };
  static uint8_t grey[kHeight][kWidth], upwards[kHeight][kWidth], rgba[kHeight][kWidth + 3][4];
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      grey[y][x] = upwards[kHeight - 1 - y][x] = (uint8_t)draw(0, 255);
      rgba[y][x][0] = rgba[y][x][1] = rgba[y][x][2] = grey[y][x];
      rgba[y][x][3] = (uint8_t)draw(0, 255);
    }
  const sdm_image ways[4] = {
      {grey[0], kWidth, kHeight, kWidth, SDM_GREY},
      {upwards[kHeight - 1], kWidth, kHeight, -(ptrdiff_t)kWidth, SDM_GREY},
      {rgba[0][0], kWidth, kHeight, sizeof rgba[0], SDM_RGBA},
      {rgba[0][0], kWidth, kHeight, sizeof rgba[0], SDM_BGRA},
  };
  const float box[4] = {5, 5, 30, 30};
  float first[136];
  for (int i = 0; i < 4; ++i) {
    sdm_face found;
    EXPECT(sdm_aligner_align(aligner, &ways[i], box, NULL, &found) == SDM_OK);
    if (i == 0) memcpy(first, found.xy, sizeof first);
    EXPECT(memcmp(first, found.xy, sizeof first) == 0);
  }
  sdm_face found;
  for (int side = 0; side < 2; ++side) { /* none, and one pixel */
    const sdm_image small = {grey[0], side, side, kWidth, SDM_GREY};
    EXPECT(sdm_aligner_align(aligner, &small, box, NULL, &found) == (side ? SDM_OK : SDM_ERROR));
  }
  sdm_aligner_free(aligner);
  sdm_model_free(face);
}

static void a_black_video_has_no_faces(const char* folder) {
  char path[4096];
  sdm_model *face = NULL, *windows = NULL;
  snprintf(path, sizeof path, "%s/face68-fast.sdm", folder);
  EXPECT(sdm_model_load(path, &face) == SDM_OK);
  snprintf(path, sizeof path, "%s/face-detector.sdm", folder);
  EXPECT(sdm_model_load(path, &windows) == SDM_OK);
  sdm_detector* detector = NULL;
  sdm_detector_options options;
  sdm_detector_options_init(&options);
  options.most = 0;
  EXPECT(sdm_detector_create(windows, face, NULL, &options, &detector) == SDM_ERROR);
  options.most = 3;
  EXPECT(sdm_detector_create(windows, face, NULL, &options, &detector) == SDM_OK);
  sdm_tracker* tracker = NULL;
  EXPECT(sdm_tracker_create(face, windows, face, &options, NULL, &tracker) == SDM_OK);
  static uint8_t black[90 * 120 * 3];
  const sdm_image image = {black, 120, 90, 360, SDM_BGR};
  const sdm_face* faces = NULL;
  int32_t count = -1;
  EXPECT(sdm_detector_detect(detector, &image, &faces, &count) == SDM_OK && count == 0);
  for (int frame = 0; frame < 3; ++frame)
    EXPECT(sdm_tracker_update(tracker, &image, 0.04 * frame, &faces, &count) == SDM_OK &&
           count == 0);
  EXPECT(sdm_tracker_reset(tracker) == SDM_OK);
  sdm_tracker_free(tracker);
  sdm_detector_free(detector);

  /* The head that the model knows looks into the camera. */
  sdm_head* head = NULL;
  EXPECT(sdm_head_of(face, &head) == SDM_OK);
  float mean[136];
  double xy[136];
  EXPECT(sdm_face_mean(face, mean) == SDM_OK);
  for (int i = 0; i < 136; ++i) xy[i] = 100 * mean[i] + 200;
  sdm_head_pose pose;
  EXPECT(sdm_head_estimate(head, 68, xy, &pose) == SDM_OK && fabs(pose.yaw) < 5);
  EXPECT(sdm_head_estimate(head, 67, xy, &pose) == SDM_ERROR);
  sdm_head_free(head);

  char* json = NULL;
  EXPECT(sdm_model_info(face, &json) == SDM_OK && strstr(json, "licence") != NULL);
  sdm_free(json);
  sdm_model_free(face);
  sdm_model_free(windows);
}

static void a_patch_is_followed(void) {
  enum { kWidth = 200, kHeight = 150 };
  static uint8_t frame[kHeight][kWidth], moved[kHeight][kWidth];
  for (int y = 0; y < kHeight; y += 6)
    for (int x = 0; x < kWidth; x += 6) {
      const uint8_t value = (uint8_t)draw(0, 255);
      for (int i = 0; i < 36; ++i)
        if (y + i / 6 < kHeight && x + i % 6 < kWidth) frame[y + i / 6][x + i % 6] = value;
    }
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) moved[y][x] = frame[y < 2 ? 0 : y - 2][x < 3 ? 0 : x - 3];
  const sdm_image first = {frame[0], kWidth, kHeight, kWidth, SDM_GREY};
  const sdm_image next = {moved[0], kWidth, kHeight, kWidth, SDM_GREY};
  const double corners[8] = {59.5, 39.5, 129.5, 39.5, 129.5, 99.5, 59.5, 99.5};
  sdm_rigid_train_options options;
  sdm_rigid_train_options_init(&options);
  options.threads = 1;
  options.samples = 800;
  sdm_model* model = NULL;
  double uncertainty = -1;
  EXPECT(sdm_rigid_train(&first, corners, &options, &model, &uncertainty) == SDM_OK);
  EXPECT(uncertainty >= 0 && uncertainty < 1);
  sdm_rigid* tracker = NULL;
  EXPECT(sdm_rigid_create(model, &tracker) == SDM_OK);
  sdm_track track;
  EXPECT(sdm_rigid_update(tracker, &next, &track) == SDM_OK);
  EXPECT(!track.lost && fabs(track.corners[0] - 62.5) < 0.5 && fabs(track.corners[1] - 41.5) < 0.5);
  EXPECT(sdm_rigid_restart(tracker, corners) == SDM_OK);
  const double nowhere[8] = {0};
  EXPECT(sdm_rigid_restart(tracker, nowhere) == SDM_ERROR);
  EXPECT(sdm_rigid_adapt(tracker, 1) == SDM_OK);
  EXPECT(sdm_rigid_update(tracker, &first, &track) == SDM_OK && !track.lost);
  sdm_rigid_free(tracker);
  options.motion = 9;
  EXPECT(sdm_rigid_train(&first, corners, &options, &model, NULL) == SDM_ERROR);
  EXPECT(says("9"));
  sdm_model_free(model);
}

static void a_pose_is_found_alone_and_among_many(void) {
  double cube[24], xy[16];
  float many[2][20], results[2][7], errors[2];
  for (int i = 0; i < 8; ++i)
    for (int axis = 0; axis < 3; ++axis) cube[3 * i + axis] = (i >> axis & 1) ? 100 : -100;
  for (int i = 0; i < 8; ++i)
    for (int axis = 0; axis < 2; ++axis)
      xy[2 * i + axis] =
          1000 * (cube[3 * i + axis] + (axis ? -20 : 30)) / (cube[3 * i + 2] + 2000) + 500;
  for (int i = 0; i < 16; ++i) many[0][i] = many[1][i] = (float)xy[i];
  sdm_pose_train_options options;
  sdm_pose_train_options_init(&options);
  options.threads = 1;
  options.samples = 1500;
  sdm_model* model = NULL;
  EXPECT(sdm_pose_train(8, cube, &options, &model) == SDM_OK);
  sdm_pose* pose = NULL;
  EXPECT(sdm_pose_create(model, &pose) == SDM_OK);
  sdm_model_free(model);
  double result[7], error = -1;
  int32_t used = 0, points = 0;
  sdm_pose_options refining;
  sdm_pose_options_init(&refining);
  refining.refine_steps = 10;
  EXPECT(sdm_pose_points(pose, &points) == SDM_OK && points == 8);
  EXPECT(sdm_pose_estimate(pose, xy, &refining, result, &error, &used) == SDM_OK);
  EXPECT(fabs(result[4] - 30) < 0.1 && fabs(result[5] + 20) < 0.1 && fabs(result[6] - 2000) < 1);
  EXPECT(used == 8 && error < 0.01);
  xy[0] = NAN;
  EXPECT(sdm_pose_estimate(pose, xy, &refining, result, &error, &used) == SDM_OK && used == 7);
  EXPECT(sdm_pose_estimate_batch(pose, 2, many[0], 20, 5, results[0], errors) == SDM_OK);
  EXPECT(fabs(results[1][6] - 2000) < 5 && memcmp(results[0], results[1], sizeof results[0]) == 0);
  EXPECT(sdm_pose_estimate_batch(pose, 2, many[0], 15, 5, results[0], errors) == SDM_ERROR);
  sdm_pose_free(pose);
}

static void one_fit_is_refined_within_bounds(void) {
  sdm_problem problem = problem_of(line);
  const double truth[2] = {0.25, 0.5}, above[2] = {1, 0.4};
  double y[8], x[2] = {0, 0}, covariance[4];
  line(NULL, 1, truth, 1, y, 1);
  sdm_refine_summary summary;
  EXPECT(sdm_refine(&problem, y, x, NULL, covariance, &summary) == SDM_OK);
  EXPECT(fabs(x[0] - 0.25) < 1e-6 && fabs(x[1] - 0.5) < 1e-6 && summary.final_cost < 1e-9);
  sdm_refine_options options;
  sdm_refine_options_init(&options);
  options.lower = lower;
  options.upper = above;
  x[0] = x[1] = 0;
  EXPECT(sdm_refine(&problem, y, x, &options, NULL, NULL) == SDM_OK && x[1] <= 0.4);
  options.loss = 77;
  EXPECT(sdm_refine(&problem, y, x, &options, NULL, NULL) == SDM_ERROR);
  const double scores[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  double quantile = 0;
  EXPECT(sdm_conformal_quantile(9, scores, 0.8, &quantile) == SDM_OK && quantile == 8);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  EXPECT(sdm_c_version() == SDM_C_VERSION);
  wrong_arguments_are_refused_in_a_sentence();
  a_function_or_an_observer_can_end_a_training();
  small_states_are_refined_by_functions_that_cost_much();
  shorter_options_leave_the_rest_at_its_default();
  a_cascade_learns_on_and_is_certified();
  models_outlive_their_handles_and_the_other_way_round(argv[1]);
  landmarks_are_learned_measured_and_adapted();
  pictures_may_lie_in_memory_as_they_like(argv[1]);
  a_black_video_has_no_faces(argv[1]);
  a_patch_is_followed();
  a_pose_is_found_alone_and_among_many();
  one_fit_is_refined_within_bounds();
  return failures > 0;
}
