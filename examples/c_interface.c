/* The C interface, by a program in plain C99: fit the same curve again and again, then find faces.
 *
 *     cc -std=c99 c_interface.c -lsdm -lm && ./a.out models
 */
#include <math.h>
#include <sdm/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every call gives a status; the sentence is the library's own. */
static void must(sdm_status status) {
  if (status == SDM_OK) return;
  fprintf(stderr, "c_interface: %s\n", sdm_last_error());
  exit(1);
}

enum { kTimes = 40 };

/* h of many states at once: amplitude, rate, offset. The same value of all states is contiguous, so
 * that the inner loop runs in vectors. */
static int32_t decay(void* user, int64_t count, const double* x, ptrdiff_t x_stride, double* out,
                     ptrdiff_t out_stride) {
  (void)user;
  for (int t = 0; t < kTimes; ++t)
    for (int64_t i = 0; i < count; ++i)
      out[t * out_stride + i] = x[i] * exp(-x[x_stride + i] * 0.1 * t) + x[2 * x_stride + i];
  return 0;
}

static void fit(void) {
  const double lower[] = {0.5, 0.3, -0.5}, upper[] = {2, 3, 0.5}, sigma = 0.01;
  const uint8_t log_scale[] = {0, 1, 0};
  sdm_problem problem;
  sdm_problem_init(&problem);
  problem.states = 3;
  problem.features = kTimes;
  problem.h = decay;
  sdm_learn_options options;
  sdm_learn_options_init(&options);
  options.lower = lower;
  options.upper = upper;
  options.log = log_scale;
  options.noise = SDM_NOISE_GAUSSIAN;
  options.sigma = &sigma;
  options.sigma_count = 1;
  sdm_learned* learned = NULL;
  must(sdm_learn(&problem, &options, &learned));

  const double truth[] = {1.2, 0.8, 0.1};
  double y[kTimes], x[3], radius[3];
  uint8_t status = SDM_FAILED;
  decay(NULL, 1, truth, 1, y, 1);
  sdm_answers answers;
  memset(&answers, 0, sizeof answers);
  answers.x = x;
  answers.radius = radius;
  answers.status = &status;
  must(sdm_learned_solve(learned, 1, y, 0, NULL, &answers));
  for (int j = 0; j < 3; ++j) printf("%.3f (+- %.3f)  ", x[j], radius[j]);
  printf("%s\n", status <= SDM_REFINED ? "trusted" : "not to be trusted");
  sdm_learned_free(learned);
  for (int j = 0; j < 3; ++j)
    if (fabs(x[j] - truth[j]) > radius[j]) exit(1);
}

static sdm_model* load(const char* folder, const char* name) {
  char path[4096];
  sdm_model* model = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  must(sdm_model_load(path, &model));
  return model;
}

static void find_faces(const char* folder) {
  sdm_model* windows = load(folder, "face-detector.sdm");
  sdm_model* fast = load(folder, "face68-fast.sdm");
  sdm_detector* detector = NULL;
  must(sdm_detector_create(windows, fast, NULL, NULL, &detector));
  sdm_model_free(windows); /* the detector keeps what it needs */
  sdm_model_free(fast);

  enum { kWidth = 160, kHeight = 120 };
  uint8_t* pixels = calloc(kWidth * kHeight, 3); /* your own picture */
  const sdm_image image = {pixels, kWidth, kHeight, 3 * kWidth, SDM_RGB};
  const sdm_face* faces = NULL;
  int32_t count = 0;
  must(sdm_detector_detect(detector, &image, &faces, &count));
  printf("%d faces in a black picture\n", (int)count);
  for (int32_t i = 0; i < count; ++i)
    printf("at %.0f, %.0f: score %.2f, first point %.1f, %.1f\n", faces[i].box[0], faces[i].box[1],
           faces[i].score, faces[i].xy[0], faces[i].xy[1]);
  free(pixels);
  sdm_detector_free(detector);
}

int main(int argc, char** argv) {
  if (sdm_c_version() != SDM_C_VERSION) return 1;
  fit();
  if (argc > 1) find_faces(argv[1]);
  return 0;
}
