/* The C interface of sdm: what every other language calls.
 *
 * Handles are opaque. What a handle is made from may be freed before it. A handle is used by one
 * thread at a time; an sdm_model, an sdm_learned, an sdm_pose and an sdm_head by any number at
 * once. Every call gives a status and leaves its results untouched unless that is SDM_OK (but
 * arrays of answers may be half full); sdm_last_error has the sentence. No exception leaves the
 * library. Freeing NULL is allowed.
 *
 * Arrays belong to the caller. A point is x, y and a set of points x0 y0 x1 y1 ...; the centre of
 * the top-left pixel is (0, 0). What is not known is NaN. Texts are UTF-8 and end with a zero.
 * Options begin with their own size, which the sdm_..._init functions fill in together with the
 * defaults. They do not grow: more of them would be functions of their own.
 *
 * Stable from version 1 on: nothing here changes its meaning or its layout; names are added only.
 * The parts "Running" need neither threads nor a file system nor BLAS; the part "Files" needs a
 * file system; the parts "Training" are in a library of their own where only running is wanted.
 */
#ifndef SDM_C_H
#define SDM_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SDM_API
#else
#define SDM_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SDM_C_VERSION 1

typedef int32_t sdm_status;
enum {
  SDM_OK = 0,
  SDM_ERROR = 1, /* bad input: the sentence names the thing, the value, what was expected */
  SDM_OUT_OF_MEMORY = 2,
  SDM_CANCELLED = 3, /* a callback of the caller's asked for it */
  SDM_INTERNAL = 4   /* a fault of the library's */
};

/* Why the last call of this thread that failed did; "" if none has. Overwritten by the next one. */
SDM_API const char* sdm_last_error(void);
/* "0.1.0", and SDM_C_VERSION as the library has it. */
SDM_API const char* sdm_version(void);
SDM_API int32_t sdm_c_version(void);
/* Frees what a call below gave as char** or uint8_t**. */
SDM_API void sdm_free(void* memory);

/* ---- Running: pictures ------------------------------------------------------------------------
 */

enum { SDM_GREY = 0, SDM_RGB = 1, SDM_BGR = 2, SDM_RGBA = 3, SDM_BGRA = 4 };

/* Pixels of 8 bits a channel, not copied; rows are `stride` bytes apart. Alpha is ignored. */
typedef struct sdm_image {
  const uint8_t* data;
  int32_t width, height;
  ptrdiff_t stride;
  int32_t format;
} sdm_image;

/* ---- Running: models --------------------------------------------------------------------------
 */

typedef struct sdm_model sdm_model;

/* A model file held in memory, which is copied. */
SDM_API sdm_status sdm_model_read(const uint8_t* bytes, size_t size, sdm_model** model);
/* The model as a file. */
SDM_API sdm_status sdm_model_bytes(const sdm_model* model, uint8_t** bytes, size_t* size);
/* "face", "face-on-base", "detector", "face-adaptation", "rigid", "pose", "learned", "cascade",
 * "online"; the model's own memory. */
SDM_API const char* sdm_model_kind(const sdm_model* model);
/* Kind, header and tensors as JSON. */
SDM_API sdm_status sdm_model_info(const sdm_model* model, char** json);
SDM_API void sdm_model_free(sdm_model* model);

/* ---- Files ------------------------------------------------------------------------------------
 */

SDM_API sdm_status sdm_model_load(const char* path, sdm_model** model);
/* At every moment `path` holds the old file or the whole new one. */
SDM_API sdm_status sdm_model_save(const sdm_model* model, const char* path);

/* ---- Running: faces ---------------------------------------------------------------------------
 */

/* Angles in degrees: yaw > 0 the nose points to the right of the picture, pitch > 0 up, roll > 0
 * the head leans clockwise. */
typedef struct sdm_head_pose {
  double yaw, pitch, roll;
  double rotation[9];        /* row by row; identity looks into the camera */
  double scale;              /* pixels for one unit of the shape */
  double position[2];        /* pixel of the shape's origin */
  double reprojection_error; /* pixels */
} sdm_head_pose;

/* A face. Its arrays belong to the handle that gave it and are overwritten by its next call. */
typedef struct sdm_face {
  float box[4];         /* x, y, width, height; of a tracked or aligned face around its points */
  float roll;           /* degrees, 0 is upright; of a detected face */
  float score;          /* probability that the points lie on a face */
  int32_t id;           /* of a tracked face, from 1; else 0 */
  int32_t detected;     /* 1: found in this picture; 0: followed from the one before */
  int32_t points;       /* 0: nothing fitted landmarks */
  int32_t has_pose;     /* 1: the model knows its points in space and they tell the head's pose */
  const float* xy;      /* 2 * points */
  const float* visible; /* of each point the probability to be seen and right; NULL: not learned */
  sdm_head_pose pose;
} sdm_face;

/* The number of points of a model of faces. */
SDM_API sdm_status sdm_face_points(const sdm_model* model, int32_t* points);
/* The mean shape, 2 * points numbers: its centre is 0, its unit 1. */
SDM_API sdm_status sdm_face_mean(const sdm_model* model, float* xy);

typedef struct sdm_aligner sdm_aligner;
SDM_API sdm_status sdm_aligner_create(const sdm_model* model, sdm_aligner** aligner);
SDM_API void sdm_aligner_free(sdm_aligner* aligner);
/* The landmarks of the face in a box (x, y, width, height) as `detector` draws them; NULL: the
 * model's default. */
SDM_API sdm_status sdm_aligner_align(sdm_aligner* aligner, const sdm_image* image,
                                     const float box[4], const char* detector, sdm_face* face);

typedef struct sdm_detector_options {
  size_t size;
  float smallest; /* side of a face's box, in pixels; 0: by the picture's size */
  float largest;
  float min_score;    /* a face that scores less is not told */
  float threshold;    /* added to the model's own, in log odds */
  float region[4];    /* look only here; without width: everywhere */
  int32_t most;       /* faces */
  int32_t candidates; /* that are tried, which bounds the time */
  int32_t max_side;   /* larger pictures are searched shrunk */
  int32_t doubled;    /* look for the smallest faces in the picture of twice the size */
} sdm_detector_options;
SDM_API void sdm_detector_options_init(sdm_detector_options* options);

typedef struct sdm_detector sdm_detector;
/* `windows` finds candidates, `verifier` (a model of faces) decides; `landmarks` (NULL: the
 * verifier's) then fits each face found and tells visibility and head pose. */
SDM_API sdm_status sdm_detector_create(const sdm_model* windows, const sdm_model* verifier,
                                       const sdm_model* landmarks,
                                       const sdm_detector_options* options,
                                       sdm_detector** detector);
SDM_API void sdm_detector_free(sdm_detector* detector);
/* The faces of a picture, the largest first. */
SDM_API sdm_status sdm_detector_detect(sdm_detector* detector, const sdm_image* image,
                                       const sdm_face** faces, int32_t* count);

typedef struct sdm_tracker_options {
  size_t size;
  int32_t faces;        /* followed at once, at most */
  float threshold;      /* a face whose score falls below is lost */
  int32_t search_every; /* frames between searches while fewer faces are there than wanted */
  int32_t memory;       /* frames for which a lost face keeps its id */
  int32_t smooth;
} sdm_tracker_options;
SDM_API void sdm_tracker_options_init(sdm_tracker_options* options);

typedef struct sdm_tracker sdm_tracker;
SDM_API sdm_status sdm_tracker_create(const sdm_model* landmarks, const sdm_model* windows,
                                      const sdm_model* verifier,
                                      const sdm_detector_options* detection,
                                      const sdm_tracker_options* options, sdm_tracker** tracker);
SDM_API void sdm_tracker_free(sdm_tracker* tracker);
/* The next frame; the time is for smoothing. */
SDM_API sdm_status sdm_tracker_update(sdm_tracker* tracker, const sdm_image* frame, double seconds,
                                      const sdm_face** faces, int32_t* count);
/* Forgets all faces, as at a cut; ids go on. */
SDM_API sdm_status sdm_tracker_reset(sdm_tracker* tracker);

typedef struct sdm_adapter_options {
  size_t size;
  double weight; /* of each start, in training samples */
  double forgetting;
  int32_t starts;
  uint64_t seed;
} sdm_adapter_options;
SDM_API void sdm_adapter_options_init(sdm_adapter_options* options);

typedef struct sdm_adapter sdm_adapter;
/* `state`: a model of kind "face-adaptation" that belongs to the model. */
SDM_API sdm_status sdm_adapter_create(const sdm_model* model, const sdm_model* state,
                                      sdm_adapter** adapter);
SDM_API void sdm_adapter_free(sdm_adapter* adapter);
/* Learns a picture in which the points are known. After it fails nothing has changed. */
SDM_API sdm_status sdm_adapter_update(sdm_adapter* adapter, const sdm_image* image, const float* xy,
                                      const sdm_adapter_options* options);
/* The adapted model, and what to store with it so that it can learn further; either may be NULL. */
SDM_API sdm_status sdm_adapter_result(const sdm_adapter* adapter, sdm_model** model,
                                      sdm_model** state);

/* ---- Running: a patch that is followed --------------------------------------------------------
 */

typedef struct sdm_track {
  double corners[8]; /* top left, top right, bottom right, bottom left of the template */
  double warp[9];    /* row by row: template coordinates to pixels */
  double difference; /* of what is seen from the template, relative */
  double correlation;
  double score; /* probability that the corners are right; NaN if not learned */
  int32_t lost;
} sdm_track;

typedef struct sdm_rigid sdm_rigid;
SDM_API sdm_status sdm_rigid_create(const sdm_model* model, sdm_rigid** tracker);
SDM_API void sdm_rigid_free(sdm_rigid* tracker);
SDM_API sdm_status sdm_rigid_update(sdm_rigid* tracker, const sdm_image* frame, sdm_track* track);
/* The tracker goes on from these corners. */
SDM_API sdm_status sdm_rigid_restart(sdm_rigid* tracker, const double corners[8]);
/* Whether the template follows slow changes of appearance from now on. */
SDM_API sdm_status sdm_rigid_adapt(sdm_rigid* tracker, int32_t on);

/* ---- Running: pose ----------------------------------------------------------------------------
 */

typedef struct sdm_pose_options {
  size_t size;
  int32_t refine_steps;  /* Gauss-Newton steps after the maps */
  double outlier_pixels; /* points farther off lose their say; 0: all count */
} sdm_pose_options;
SDM_API void sdm_pose_options_init(sdm_pose_options* options);

typedef struct sdm_pose sdm_pose;
SDM_API sdm_status sdm_pose_create(const sdm_model* model, sdm_pose** pose);
SDM_API void sdm_pose_free(sdm_pose* pose);
SDM_API sdm_status sdm_pose_points(const sdm_pose* pose, int32_t* points);
/* From the pixels of all points (NaN: not seen). `result` is qw qx qy qz tx ty tz: a point X of the
 * object is at Q X + t in the camera's frame. `error` (pixels) and `used` points may be NULL. */
SDM_API sdm_status sdm_pose_estimate(const sdm_pose* pose, const double* xy,
                                     const sdm_pose_options* options, double result[7],
                                     double* error, int32_t* used);
/* Many at once, in single precision: `xy` has 2 * points numbers a pose, `results` 7, `errors` 1
 * (NaN: no pose). The strides count numbers from one pose to the next; 0: none between them. */
SDM_API sdm_status sdm_pose_estimate_batch(const sdm_pose* pose, int64_t count, const float* xy,
                                           ptrdiff_t stride, int32_t refine_steps, float* results,
                                           float* errors);

/* How a head, or anything else of a known shape, is turned, seen by a camera that nobody knows. */
typedef struct sdm_head sdm_head;
/* From points in space (x y z a point) and what each says (NULL: all alike) ... */
SDM_API sdm_status sdm_head_create(int32_t points, const double* xyz, const double* weights,
                                   sdm_head** head);
/* ... or those of a model of faces; an error where it does not know them. */
SDM_API sdm_status sdm_head_of(const sdm_model* model, sdm_head** head);
SDM_API void sdm_head_free(sdm_head* head);
SDM_API sdm_status sdm_head_estimate(const sdm_head* head, int32_t points, const double* xy,
                                     sdm_head_pose* pose);

/* ---- Running: your own problem ----------------------------------------------------------------
 */

/* h of `count` states at once: value j of state i is x[j * x_stride + i], and feature r of h of it
 * goes to out[r * out_stride + i]. Called from several threads at once unless there is only one.
 * Gives 0; anything else ends the call that asked with SDM_CANCELLED. */
typedef int32_t (*sdm_function)(void* user, int64_t count, const double* x, ptrdiff_t x_stride,
                                double* out, ptrdiff_t out_stride);
/* d h_r / d x_j of one state into out[r * states + j]. */
typedef int32_t (*sdm_jacobian)(void* user, const double* x, double* out);
/* Where the solve of y begins: fills x. */
typedef int32_t (*sdm_start_rule)(void* user, const double* y, double* x);

typedef struct sdm_problem {
  size_t size;
  int32_t states, features;
  sdm_function h;
  sdm_jacobian jacobian; /* NULL: by differences */
  sdm_start_rule start;  /* NULL: none */
  void* user;
  /* Most states in one call of h, 64 or more: more where a call costs much, as one into another
   * language does. */
  int32_t block;
} sdm_problem;
SDM_API void sdm_problem_init(sdm_problem* problem);

enum { SDM_TRUSTED = 0, SDM_REFINED = 1, SDM_OUTSIDE = 2, SDM_FAILED = 3 };
enum { SDM_REFINE_NEVER = 0, SDM_REFINE_DOUBTFUL = 1, SDM_REFINE_ALWAYS = 2 };

typedef struct sdm_solve_options {
  size_t size;
  double confidence;      /* of the radius */
  int32_t refine;         /* SDM_REFINE_... */
  int32_t further_starts; /* that a doubtful answer is tried from */
  int32_t threads;        /* 0: all cores. The bits do not depend on it. */
} sdm_solve_options;
SDM_API void sdm_solve_options_init(sdm_solve_options* options);

/* Where the answers go; any pointer but x may be NULL. */
typedef struct sdm_answers {
  double* x;                 /* states numbers an answer */
  double* radius;            /* likewise: with the confidence asked for, |x - truth| is less */
  uint8_t* status;           /* SDM_TRUSTED ... SDM_FAILED */
  double* residual;          /* |h(x) - y| */
  double* relative_residual; /* 1 is usual */
} sdm_answers;

typedef struct sdm_learned sdm_learned;
/* From a model of kind "learned" and the same h again (states and features may be 0: the model's).
 */
SDM_API sdm_status sdm_learned_create(const sdm_model* model, const sdm_problem* problem,
                                      sdm_learned** learned);
SDM_API sdm_status sdm_learned_model(const sdm_learned* learned, sdm_model** model);
SDM_API void sdm_learned_free(sdm_learned* learned);
SDM_API sdm_status sdm_learned_size(const sdm_learned* learned, int32_t* states, int32_t* features);
/* What learning found, in words: one line, or (full) all of it. */
SDM_API sdm_status sdm_learned_report(const sdm_learned* learned, int32_t full, char** text);
/* `count` measurements of `features` numbers each, `stride` numbers apart (0: one after the other).
 * One measurement is a count of 1. */
SDM_API sdm_status sdm_learned_solve(const sdm_learned* learned, int64_t count, const double* y,
                                     ptrdiff_t stride, const sdm_solve_options* options,
                                     const sdm_answers* answers);

enum { SDM_LOSS_NONE = 0, SDM_LOSS_HUBER = 1, SDM_LOSS_CAUCHY = 2, SDM_LOSS_TUKEY = 3 };

typedef struct sdm_refine_options {
  size_t size;
  int32_t max_evaluations;
  double residual_tolerance, gradient_tolerance, step_tolerance, cost_tolerance;
  const double *lower, *upper; /* `states` numbers each; NULL: no bounds */
  int32_t loss;                /* SDM_LOSS_... */
  double loss_scale;
} sdm_refine_options;
SDM_API void sdm_refine_options_init(sdm_refine_options* options);

enum {
  SDM_STOP_RESIDUAL = 0,
  SDM_STOP_GRADIENT = 1,
  SDM_STOP_STEP = 2,
  SDM_STOP_COST = 3,
  SDM_STOP_EVALUATIONS = 4,
  SDM_STOP_STUCK = 5
};
typedef struct sdm_refine_summary {
  int32_t stop; /* SDM_STOP_... */
  int32_t iterations, evaluations;
  double initial_cost, final_cost; /* |r|^2 / 2 */
} sdm_refine_summary;

/* min |h(x) - y|^2 from a start near the answer, by Levenberg-Marquardt: x is moved to the answer.
 * `covariance` (states * states) and `summary` may be NULL. */
SDM_API sdm_status sdm_refine(const sdm_problem* problem, const double* y, double* x,
                              const sdm_refine_options* options, double* covariance,
                              sdm_refine_summary* summary);

/* A plain cascade of descent maps, x <- x + b - R (h(x) - y), as the paper has it; it may go on
 * learning from new samples where it was trained for that. */
typedef struct sdm_cascade sdm_cascade;
/* From a model of kind "cascade" or "online". */
SDM_API sdm_status sdm_cascade_create(const sdm_model* model, sdm_cascade** cascade);
SDM_API sdm_status sdm_cascade_model(const sdm_cascade* cascade, sdm_model** model);
SDM_API void sdm_cascade_free(sdm_cascade* cascade);
SDM_API sdm_status sdm_cascade_stages(const sdm_cascade* cascade, int32_t* stages);
/* R of a stage, row by row (states * features), and b (states); either may be NULL. */
SDM_API sdm_status sdm_cascade_map(const sdm_cascade* cascade, int32_t stage, double* r, double* b);
/* Moves x by every stage. `residual`, |h(x) - y| at the end, may be NULL. An error where a value is
 * not finite. */
SDM_API sdm_status sdm_cascade_solve(const sdm_cascade* cascade, const sdm_problem* problem,
                                     const double* y, double* x, double* residual);
/* Recursive least squares on every stage with one more sample: y is measured at `target`, solving
 * began at x0. An error, and nothing is changed, where the cascade was not trained for it. */
SDM_API sdm_status sdm_cascade_update(sdm_cascade* cascade, const sdm_problem* problem,
                                      const double* y, const double* x0, const double* target,
                                      double weight, double forgetting);

/* Theorems 1 and 2 of the paper on samples: does one step of the map bring every one closer? */
typedef struct sdm_certificate {
  int64_t samples, worst_sample;
  double lipschitz, min_cosine, bound, map_norm, spectral_norm, contraction, mean_contraction;
  int32_t monotone, guaranteed;
} sdm_certificate;
/* R row by row (states * features); `samples` states around x_star, one after the other. */
SDM_API sdm_status sdm_certify(const sdm_problem* problem, const double* r, const double* x_star,
                               int64_t count, const double* samples, sdm_certificate* certificate);
/* The radius that a new score exceeds with no more than 1 - confidence (split conformal). */
SDM_API sdm_status sdm_conformal_quantile(int64_t count, const double* scores, double confidence,
                                          double* quantile);

/* ---- Training ---------------------------------------------------------------------------------
 */

/* How far it is, 0 to 1, what it does now and how long it will still take (NaN: not known). Called
 * by the thread that asked. Anything but 0 ends the training with SDM_CANCELLED. */
typedef int32_t (*sdm_progress)(void* user, const char* activity, double share,
                                double seconds_left);

enum { SDM_NOISE_NONE = 0, SDM_NOISE_GAUSSIAN = 1, SDM_NOISE_POISSON = 2 };

typedef struct sdm_learn_options {
  size_t size;
  const double *lower, *upper; /* `states` numbers each: where states are expected */
  const uint8_t* log;          /* 1: this value spans decades; NULL: none does */
  int32_t noise;               /* SDM_NOISE_... */
  const double* sigma;         /* of Gaussian noise: one number, or one for each feature */
  int32_t sigma_count;
  const double* x0;             /* where every solve begins; NULL: the centre */
  int64_t samples, calibration; /* examples, and fresh ones that set gate and radius */
  int64_t evaluations;          /* of h, about so many; 0: no limit */
  double seconds;               /* likewise */
  int32_t max_stages, max_order, max_bits, max_components;
  uint64_t seed;
  int32_t threads;       /* 0: all cores. The bits do not depend on it. */
  sdm_progress progress; /* may be NULL */
  void* progress_user;
} sdm_learn_options;
SDM_API void sdm_learn_options_init(sdm_learn_options* options);
/* Learns to solve min |h(x) - y|^2 for any y that a state of the box gives with that noise. */
SDM_API sdm_status sdm_learn(const sdm_problem* problem, const sdm_learn_options* options,
                             sdm_learned** learned);

typedef struct sdm_train_options {
  size_t size;
  int32_t stages;
  double penalty; /* ridge, relative to the mean energy of a feature */
  int32_t folds;
  int32_t online; /* 1: keep what sdm_cascade_update needs */
  uint64_t seed;
  int32_t threads;
  sdm_progress progress;
  void* progress_user;
} sdm_train_options;
SDM_API void sdm_train_options_init(sdm_train_options* options);
/* `count` examples: `starts` (states numbers each, or `one_start`: the same for all), `targets`,
 * and `measured` (features numbers each; NULL: y is not known, and h(x) itself is the feature). */
SDM_API sdm_status sdm_cascade_train(const sdm_problem* problem, int64_t count,
                                     const double* starts, int32_t one_start, const double* targets,
                                     const double* measured, const sdm_train_options* options,
                                     sdm_cascade** cascade);

enum { SDM_TRANSLATION = 0, SDM_SIMILARITY = 1, SDM_AFFINE = 2, SDM_HOMOGRAPHY = 3 };

typedef struct sdm_rigid_train_options {
  size_t size;
  int32_t motion; /* SDM_TRANSLATION ... SDM_HOMOGRAPHY */
  int64_t samples;
  int32_t stages;
  double search; /* a lost template is searched this far around, hundredths of its longer side */
  int32_t scan;  /* then in the whole frame */
  uint64_t seed;
  int32_t threads;
  const char* provenance; /* for people; may be NULL */
} sdm_rigid_train_options;
SDM_API void sdm_rigid_train_options_init(sdm_rigid_train_options* options);
/* Learns what the frame shows between four corners. `uncertainty` (may be NULL): above 1 px the
 * template is too plain to be followed well. */
SDM_API sdm_status sdm_rigid_train(const sdm_image* frame, const double corners[8],
                                   const sdm_rigid_train_options* options, sdm_model** model,
                                   double* uncertainty);

typedef struct sdm_pose_train_options {
  size_t size;
  double fx, fy, cx, cy; /* the camera, in pixels */
  double centre[3];      /* where the object stands in the mean, in the camera's frame */
  double rotation[3];    /* half-widths of the range, in degrees about x, y, z */
  double translation[3]; /* half-widths, in the object's units */
  double noise_pixels;
  int32_t stages, cells;
  int64_t samples;
  uint64_t seed;
  int32_t threads;
  const char* provenance;
  sdm_progress progress;
  void* progress_user;
} sdm_pose_train_options;
SDM_API void sdm_pose_train_options_init(sdm_pose_train_options* options);
/* Learns an object of so many points, x y z each. */
SDM_API sdm_status sdm_pose_train(int32_t points, const double* xyz,
                                  const sdm_pose_train_options* options, sdm_model** model);

/* ---- Training: faces --------------------------------------------------------------------------
 */

typedef struct sdm_face_train_options {
  size_t size;
  const char* preset;    /* "accurate", "fast", "paper"; NULL: settings are chosen */
  double budget;         /* seconds of one core for choosing them */
  const sdm_model* base; /* learn other points of what this model finds; NULL: none */
  const int32_t* mirror; /* the partner of each point in a mirror; NULL: none, or iBUG's */
  int32_t unit[2];       /* the points whose distance is the unit; -1, -1: the shape's size */
  int32_t folds;         /* 0: the default */
  int32_t ibug;          /* 1: points are iBUG's 68, 66, 51 or 49, whose mirror, unit and parts
                            are known; 0: by their number where `mirror` is NULL; -1: no */
  uint64_t seed;
  int32_t threads;
  const char *name, *provenance, *licence; /* may be NULL */
  sdm_progress progress;
  void* progress_user;
} sdm_face_train_options;
SDM_API void sdm_face_train_options_init(sdm_face_train_options* options);
/* `count` faces, one in each picture: `xy` has 2 * points numbers a face (NaN: not known), `boxes`
 * x y width height (without width: not found). Without `boxes` (NULL) a box is the whole picture.
 * `report` (may be NULL) tells in words what was tried and reached. */
SDM_API sdm_status sdm_face_train(int32_t count, const sdm_image* images, int32_t points,
                                  const float* xy, const float* boxes,
                                  const sdm_face_train_options* options, sdm_model** model,
                                  char** report);
/* What sdm_adapter needs of a model's training faces: a model of kind "face-adaptation". */
SDM_API sdm_status sdm_face_adaptation(const sdm_model* model, int32_t count,
                                       const sdm_image* images, const float* xy, sdm_model** state);

enum { SDM_OUTER_EYES = 0, SDM_EYE_CENTRES = 1, SDM_BOX_DIAGONAL = 2, SDM_PIXELS = 3 };

typedef struct sdm_face_evaluation {
  double mean, median, failure_rate, auc;
  double threshold; /* of failure_rate and auc */
  int32_t faces;
} sdm_face_evaluation;
/* The errors of a model on labelled faces: each starts from its box, or (NULL) the whole picture.
 * `errors` (one a face), `found` (2 * points a face) and `point_errors` (one a point) may be NULL;
 * `threshold` 0: 0.08, or 10 pixels. */
SDM_API sdm_status sdm_face_evaluate(const sdm_model* model, int32_t count, const sdm_image* images,
                                     const float* xy, const float* boxes, int32_t normaliser,
                                     double threshold, double* errors, double* point_errors,
                                     float* found, sdm_face_evaluation* evaluation);

#ifdef __cplusplus
}
#endif

#endif
