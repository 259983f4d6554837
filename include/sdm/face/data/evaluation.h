#pragma once

#include <string>
#include <vector>

#include "sdm/face/data/annotations.h"
#include "sdm/face/data/markup.h"

namespace sdm::face {

/// What a face's mean point distance is divided by. Errors by different normalisers cannot be
/// compared, so every result names its own.
enum class Normaliser {
  outer_eyes,    // the distance of the outer eye corners, points 36 and 45
  eye_centres,   // the distance of the means of the eye points 36-41 and 42-47 ("inter-pupil")
  box_diagonal,  // the diagonal of the tight box around all true points; for any markup
  pixels,        // nothing: errors are root mean squares in pixels, as the paper's on LFW-A&C
};

const char* name_of(Normaliser normaliser);
/// Throws: not one of the names.
Normaliser normaliser_from(const std::string& name);

/// The normaliser's length in one true shape. Throws: a point it needs is missing or not known; the
/// length is zero. `pixels` is 1.
double normalising_length(const Shape& truth, const std::vector<int>& ids, Normaliser normaliser);

struct EvaluationOptions {
  Normaliser normaliser = Normaliser::outer_eyes;
  /// The points to compare, by number. Empty: those that truth and prediction both have.
  std::vector<int> ids{};
  /// Failure rate and area under the curve are taken at this error; 0: at 0.08, or 10 pixels.
  double threshold = 0;
};

struct Evaluation {
  std::string name;
  Normaliser normaliser = Normaliser::outer_eyes;
  double threshold = 0.08;
  Markup markup;  // the points compared
  /// Normalised mean error of each true face, a fraction (by `pixels` the root mean square);
  /// infinite where there is no prediction.
  std::vector<double> errors;
  int missing = 0;              // faces without a prediction
  double mean = 0, median = 0;  // of the faces with a prediction
  /// Over all faces: one without a prediction has failed.
  double auc = 0;           // area under the cumulative error curve up to the threshold, 0 to 1
  double failure_rate = 0;  // share of errors beyond the threshold
  std::vector<double> point_errors;   // mean of each point, in order of markup.ids
  std::vector<double> region_errors;  // mean of each region, in order of markup.regions
  /// Mean point distance in the unit of the truth's scales, of the faces that have one: over faces,
  /// their median, and of each point. NaN where none has.
  double scaled_mean = 0, scaled_median = 0;
  std::vector<double> scaled_point_errors;
};

/// Compares predictions with the truth, face by face in the same order; a prediction without
/// columns is missing. Points whose truth is NaN do not count; a face that lacks a prediction of a
/// point that does count is missing.
/// Throws: numbers of faces differ; a point asked for is not in both; points have other names, or
/// as many points other numbers; normalising_length throws.
Evaluation evaluate(const Annotations& truth, const Annotations& predictions,
                    const EvaluationOptions& options = {});

/// `predictions` in the order of the faces of `truth`: by file, or by its name without folder and
/// extension where no file agrees; where a picture has several faces, by the nearest centre, the
/// nearest pair of a picture first. Truth without a prediction gets one without columns.
Annotations match(const Annotations& truth, const Annotations& predictions);

/// The cumulative error distribution: the share of errors <= each threshold.
std::vector<double> cumulative(const std::vector<double>& errors,
                               const std::vector<double>& thresholds);

/// The faces by error, the worst first, at most `count`.
std::vector<std::size_t> worst_first(const Evaluation& result, int count);

}  // namespace sdm::face
