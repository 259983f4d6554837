/* Models and learned solvers that many threads share give each the answers of one, and every thread
 * has its own last error. What ThreadSanitizer runs.
 *
 *     c_threads_test MODELS
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <sdm/c.h>
#include <stdio.h>
#include <string.h>

enum { kThreads = 4, kRounds = 5, kSide = 96, kPoses = 8 };

static int failures = 0; /* of the one thread that looks */

#define EXPECT(condition)                                                         \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, \
              sdm_last_error());                                                  \
      ++failures;                                                                 \
    }                                                                             \
  } while (0)

static int32_t line(void* user, int64_t count, const double* x, ptrdiff_t xs, double* out,
                    ptrdiff_t os) {
  (void)user;
  for (int f = 0; f < 4; ++f)
    for (int64_t i = 0; i < count; ++i) out[f * os + i] = x[i] + x[xs + i] * f;
  return 0;
}

static struct {
  sdm_model *face, *windows;
  sdm_learned* learned;
  sdm_pose* pose;
  sdm_head* head;
  uint8_t pixels[kSide * kSide];
} shared;

typedef struct Answers {
  float points[136];
  int32_t faces;
  double x[2], pose[7], yaw;
  size_t bytes;
  int failed;
  char error[200];
} Answers;

static void use(Answers* out, int number) {
  const sdm_image image = {shared.pixels, kSide, kSide, kSide, SDM_GREY};
  const float box[4] = {10, 12, 60, 60};
  sdm_aligner* aligner = NULL;
  sdm_detector* detector = NULL;
  sdm_face face;
  const sdm_face* faces = NULL;
  out->failed += sdm_aligner_create(shared.face, &aligner) != SDM_OK;
  out->failed += sdm_aligner_align(aligner, &image, box, NULL, &face) != SDM_OK;
  memcpy(out->points, face.xy, sizeof out->points);
  sdm_aligner_free(aligner);
  out->failed += sdm_detector_create(shared.windows, shared.face, NULL, NULL, &detector) != SDM_OK;
  out->failed += sdm_detector_detect(detector, &image, &faces, &out->faces) != SDM_OK;
  sdm_detector_free(detector);

  const double y[4] = {0.25, 0.5, 0.75, 1};
  const sdm_answers answers = {out->x, NULL, NULL, NULL, NULL};
  out->failed += sdm_learned_solve(shared.learned, 1, y, 0, NULL, &answers) != SDM_OK;

  double corners[2 * kPoses];
  for (int i = 0; i < kPoses; ++i) {
    corners[2 * i] = 320 + 20 * ((i & 1) != 0 ? 1 : -1) + (i >> 2);
    corners[2 * i + 1] = 240 + 20 * ((i & 2) != 0 ? 1 : -1);
  }
  out->failed += sdm_pose_estimate(shared.pose, corners, NULL, out->pose, NULL, NULL) != SDM_OK;
  double seen[136];
  float mean[136];
  sdm_head_pose turned;
  out->failed += sdm_face_mean(shared.face, mean) != SDM_OK;
  for (int i = 0; i < 136; ++i) seen[i] = 100 + 50 * mean[i];
  out->failed += sdm_head_estimate(shared.head, 68, seen, &turned) != SDM_OK;
  out->yaw = turned.yaw;

  uint8_t* bytes = NULL;
  char* info = NULL;
  out->failed += sdm_model_bytes(shared.windows, &bytes, &out->bytes) != SDM_OK;
  out->failed += sdm_model_info(shared.windows, &info) != SDM_OK;
  sdm_free(bytes);
  sdm_free(info);

  char path[32];
  snprintf(path, sizeof path, "no/such/%d.sdm", number);
  sdm_model* none = NULL;
  out->failed += sdm_model_load(path, &none) != SDM_ERROR;
  snprintf(out->error, sizeof out->error, "%s", sdm_last_error());
}

typedef struct Work {
  int number;
  Answers answers;
} Work;

static void* run(void* given) {
  Work* work = given;
  for (int i = 0; i < kRounds; ++i) use(&work->answers, work->number);
  return NULL;
}

static sdm_model* load(const char* folder, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  sdm_model* model = NULL;
  EXPECT(sdm_model_load(path, &model) == SDM_OK);
  return model;
}

static void prepare(const char* folder) {
  shared.face = load(folder, "face68-fast.sdm");
  shared.windows = load(folder, "face-detector.sdm");
  EXPECT(sdm_head_of(shared.face, &shared.head) == SDM_OK);
  for (int i = 0; i < kSide * kSide; ++i)
    shared.pixels[i] = (uint8_t)(128 + 60 * sin(i % kSide * 0.2) + 60 * cos(i / kSide * 0.3));

  static const double lower[2] = {-1, -1}, upper[2] = {1, 1}, sigma = 0.01;
  sdm_problem problem;
  sdm_problem_init(&problem);
  problem.states = 2;
  problem.features = 4;
  problem.h = line;
  sdm_learn_options learning;
  sdm_learn_options_init(&learning);
  learning.lower = lower;
  learning.upper = upper;
  learning.noise = SDM_NOISE_GAUSSIAN;
  learning.sigma = &sigma;
  learning.sigma_count = 1;
  learning.samples = 600;
  learning.calibration = 400;
  learning.threads = 3;
  EXPECT(sdm_learn(&problem, &learning, &shared.learned) == SDM_OK);

  double cube[3 * kPoses];
  for (int i = 0; i < kPoses; ++i)
    for (int k = 0; k < 3; ++k) cube[3 * i + k] = (i >> k & 1) != 0 ? 100 : -100;
  sdm_pose_train_options posing;
  sdm_pose_train_options_init(&posing);
  posing.samples = 300;
  posing.threads = 3;
  sdm_model* model = NULL;
  EXPECT(sdm_pose_train(kPoses, cube, &posing, &model) == SDM_OK);
  EXPECT(sdm_pose_create(model, &shared.pose) == SDM_OK);
  sdm_model_free(model);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  prepare(argv[1]);
  if (failures > 0) return 1;
  static Answers expected; /* zero where nothing is written, as those of the threads are */
  use(&expected, 0);
  EXPECT(expected.failed == 0);

  static Work work[kThreads];
  pthread_t threads[kThreads];
  for (int t = 0; t < kThreads; ++t) {
    work[t].number = t;
    EXPECT(pthread_create(&threads[t], NULL, run, &work[t]) == 0);
  }
  for (int t = 0; t < kThreads; ++t) {
    pthread_join(threads[t], NULL);
    const Answers* got = &work[t].answers;
    char path[32];
    snprintf(path, sizeof path, "no/such/%d.sdm", t);
    EXPECT(got->failed == 0 && strstr(got->error, path) != NULL);
    EXPECT(memcmp(got->points, expected.points, sizeof expected.points) == 0);
    EXPECT(got->faces == expected.faces && got->bytes == expected.bytes);
    EXPECT(memcmp(got->x, expected.x, sizeof expected.x) == 0);
    EXPECT(memcmp(got->pose, expected.pose, sizeof expected.pose) == 0);
    EXPECT(got->yaw == expected.yaw);
  }
  sdm_head_free(shared.head);
  sdm_pose_free(shared.pose);
  sdm_learned_free(shared.learned);
  sdm_model_free(shared.face);
  sdm_model_free(shared.windows);
  return failures > 0;
}
