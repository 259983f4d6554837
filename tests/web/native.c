/* What the native library finds in grey pictures, for the tests and timings of the web package.
 *
 *   native LANDMARKS DETECTOR REPEATS PICTURE.pgm ...
 *
 * A line of JSON for each picture: the faces' points, and the least processor time in milliseconds
 * of a detection and of a tracked frame of it, the latter in the mean of ten. */
#include <sdm/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(sdm_status status) {
  if (status == SDM_OK) return;
  fprintf(stderr, "native: %s\n", sdm_last_error());
  exit(1);
}

static uint8_t* whole_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    fprintf(stderr, "native: cannot read %s\n", path);
    exit(1);
  }
  *size = (size_t)ftell(file);
  rewind(file);
  uint8_t* bytes = malloc(*size + 1);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) exit(1);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

static sdm_model* model_of(const char* path) {
  size_t size;
  uint8_t* bytes = whole_file(path, &size);
  sdm_model* model;
  check(sdm_model_read(bytes, size, &model));
  free(bytes);
  return model;
}

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* the machine may be busy with other things */
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

int main(int count, char** arguments) {
  if (count < 5) return 2;
  sdm_model* landmarks = model_of(arguments[1]);
  sdm_model* windows = model_of(arguments[2]);
  const int repeats = atoi(arguments[3]);
  sdm_detector_options looking;
  sdm_detector_options_init(&looking);
  sdm_tracker_options tracking;
  sdm_tracker_options_init(&tracking);
  sdm_detector* detector;
  check(sdm_detector_create(windows, landmarks, NULL, &looking, &detector));
  for (int i = 4; i < count; ++i) {
    size_t size;
    uint8_t* bytes = whole_file(arguments[i], &size);
    int width, height, start;
    if (sscanf((const char*)bytes, "P5 %d %d 255%n", &width, &height, &start) != 2) return 1;
    const sdm_image image = {bytes + start + 1, width, height, width, SDM_GREY};
    const sdm_face* faces;
    int32_t found;
    check(sdm_detector_detect(detector, &image, &faces, &found));
    printf("{\"faces\": [");
    for (int32_t f = 0; f < found; ++f) {
      printf("%s{\"score\": %.7g, \"points\": [", f ? ", " : "", (double)faces[f].score);
      for (int32_t p = 0; p < 2 * faces[f].points; ++p)
        printf("%s%.7g", p ? ", " : "", (double)faces[f].xy[p]);
      printf("]}");
    }
    double detect = 1e9, track = 1e9;
    sdm_tracker* tracker;
    check(sdm_tracker_create(landmarks, windows, landmarks, &looking, &tracking, &tracker));
    check(sdm_tracker_update(tracker, &image, 0, &faces, &found));
    for (int r = 1; r <= repeats; ++r) {
      double from = milliseconds();
      check(sdm_detector_detect(detector, &image, &faces, &found));
      double took = milliseconds() - from;
      if (took < detect) detect = took;
      from = milliseconds();
      for (int t = 0; t < 10; ++t)
        check(sdm_tracker_update(tracker, &image, r + 0.1 * t, &faces, &found));
      took = (milliseconds() - from) / 10;
      if (took < track) track = took;
    }
    sdm_tracker_free(tracker);
    printf("], \"detect\": %.4f, \"track\": %.4f}\n", detect, track);
    free(bytes);
  }
  sdm_detector_free(detector);
  sdm_model_free(landmarks);
  sdm_model_free(windows);
  return 0;
}
