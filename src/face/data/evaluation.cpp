#include "sdm/face/data/evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array kNormalisers{Normaliser::outer_eyes, Normaliser::eye_centres,
                                  Normaliser::box_diagonal, Normaliser::pixels};

Eigen::Vector2f mean_of(const Shape& truth, const std::vector<int>& ids,
                        const std::vector<int>& wanted) {
  Eigen::Vector2f sum = Eigen::Vector2f::Zero();
  for (int id : wanted) {
    const auto found = std::find(ids.begin(), ids.end(), id);
    if (found == ids.end() || truth.col(found - ids.begin()).hasNaN())
      throw Error(formatted(
          "point {} is not known, which this normaliser needs; box_diagonal does for any markup",
          id));
    sum += truth.col(found - ids.begin());
  }
  return sum / float(wanted.size());
}

double diagonal(const Shape& truth) {
  const Eigen::AlignedBox2f box = bounds(truth);
  return box.isEmpty() ? 0 : static_cast<double>(box.diagonal().norm());
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<int> common_ids(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> ids;
  std::copy_if(a.begin(), a.end(), std::back_inserter(ids),
               [&](int id) { return std::find(b.begin(), b.end(), id) != b.end(); });
  return ids;
}

// The mean of errors, or their root mean square.
struct Mean {
  bool squares = false;
  double sum = 0;
  int count = 0;
  void add(double error) {
    sum += squares ? error * error : error;
    ++count;
  }
  double value() const {
    if (count == 0) return std::nan("");
    return squares ? std::sqrt(sum / count) : sum / count;
  }
};

void check_points(const Annotations& truth, const Annotations& predictions) {
  require_same_points(predictions.names, "the predictions", truth.names, "the truth");
  const std::vector<int>&a = truth.ids, &b = predictions.ids;
  if (a.size() != b.size()) return;
  for (const int id : a)
    if (std::find(b.begin(), b.end(), id) == b.end())
      throw Error(
          formatted("truth and prediction have {} points each, but the prediction has no "
                    "point {}: are they counted from elsewhere?",
                    a.size(), id));
}

std::string stem(const std::string& file) { return std::filesystem::path(file).stem().string(); }

Eigen::Vector2f centre(const Shape& points) {
  Eigen::Vector2f sum = Eigen::Vector2f::Zero();
  int known = 0;
  for (const auto& point : points.colwise()) {
    if (point.hasNaN()) continue;
    sum += point;
    ++known;
  }
  return sum / float(std::max(1, known));
}

}  // namespace

const char* name_of(Normaliser normaliser) {
  switch (normaliser) {
    case Normaliser::outer_eyes:
      return "outer_eyes";
    case Normaliser::eye_centres:
      return "eye_centres";
    case Normaliser::box_diagonal:
      return "box_diagonal";
    case Normaliser::pixels:
      break;
  }
  return "pixels";
}

Normaliser normaliser_from(const std::string& name) {
  for (Normaliser normaliser : kNormalisers)
    if (name == name_of(normaliser)) return normaliser;
  throw Error(formatted(
      "the normaliser '{}', expected outer_eyes, eye_centres, box_diagonal or pixels", name));
}

double normalising_length(const Shape& truth, const std::vector<int>& ids, Normaliser normaliser) {
  double length = 0;
  if (normaliser == Normaliser::pixels) return 1;
  if (normaliser == Normaliser::box_diagonal) {
    length = diagonal(truth);
  } else {
    const Markup all = ibug(68);  // in which positions are numbers
    const bool corners = normaliser == Normaliser::outer_eyes;
    const Eigen::Vector2f right =
        mean_of(truth, ids, corners ? std::vector{all.unit.first} : all.region("right_eye"));
    const Eigen::Vector2f left =
        mean_of(truth, ids, corners ? std::vector{all.unit.second} : all.region("left_eye"));
    length = (right - left).norm();
  }
  if (!(length > 0))
    throw Error(formatted("the normaliser {} is zero in this face", name_of(normaliser)));
  return length;
}

Evaluation evaluate(const Annotations& truth, const Annotations& predictions,
                    const EvaluationOptions& options) {
  if (truth.faces.empty() || truth.faces.size() != predictions.faces.size())
    throw Error(formatted("{} predictions for {} true faces", predictions.faces.size(),
                          truth.faces.size()));
  check_points(truth, predictions);
  const std::vector<int> common = common_ids(truth.ids, predictions.ids);
  const std::vector<int>& ids = options.ids.empty() ? common : options.ids;
  if (ids.empty()) throw Error("truth and prediction have no point in common");
  for (int id : ids)
    if (std::find(common.begin(), common.end(), id) == common.end())
      throw Error(formatted("point {} is not in both truth and prediction", id));

  Evaluation result;
  result.normaliser = options.normaliser;
  const bool pixels = options.normaliser == Normaliser::pixels;
  result.threshold = options.threshold > 0 ? options.threshold : pixels ? 10 : 0.08;
  result.markup = markup_of(ids, truth.ids);
  std::vector<Mean> points(ids.size(), {pixels}), regions(result.markup.regions.size(), {pixels});
  std::vector<Mean> scaled_points(ids.size());
  std::vector<double> known_errors, scaled_errors;
  for (std::size_t i = 0; i < truth.faces.size(); ++i) {
    const Annotation& face = truth.faces[i];
    double length = 0;
    try {
      length = normalising_length(face.points, truth.ids, options.normaliser);
    } catch (const Error& error) {
      throw Error(formatted("{}: {}", face.file, error.what()));
    }
    result.errors.push_back(kInfinity);
    const Shape& predicted = predictions.faces[i].points;
    if (predicted.cols() == 0) continue;
    const Shape difference =
        select(predicted, predictions.ids, ids) - select(face.points, truth.ids, ids);
    const Shape wanted = select(face.points, truth.ids, ids);
    std::vector<double> distances(ids.size(), std::nan(""));
    Mean whole{pixels}, scaled;
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (wanted.col(Eigen::Index(k)).hasNaN()) continue;
      distances[k] = difference.col(Eigen::Index(k)).cast<double>().norm() / length;
      whole.add(distances[k]);
      scaled.add(distances[k] * length * face.scale);
    }
    // No true point at all, or a predicted one that is not a number.
    if (!std::isfinite(whole.value())) continue;
    result.errors.back() = whole.value();
    known_errors.push_back(whole.value());
    const auto add = [&distances](Mean& to, int k, double unit = 1) {
      if (!std::isnan(distances[std::size_t(k)])) to.add(unit * distances[std::size_t(k)]);
    };
    if (face.scale > 0) {
      scaled_errors.push_back(scaled.value());
      for (std::size_t k = 0; k < ids.size(); ++k)
        add(scaled_points[k], int(k), length * face.scale);
    }
    for (std::size_t k = 0; k < ids.size(); ++k) add(points[k], int(k));
    for (std::size_t r = 0; r < regions.size(); ++r)
      for (int k : result.markup.regions[r].points) add(regions[r], k);
  }

  if (known_errors.empty())
    throw Error("no prediction for any of the true faces: do the files have the same names?");
  const double faces = double(result.errors.size());
  result.missing = int(result.errors.size() - known_errors.size());
  result.mean = mean(known_errors);
  result.median = median(known_errors);
  for (double error : result.errors) {
    // The area under the curve is exact: each face adds what lies right of its error.
    result.auc += std::max(0.0, 1 - error / result.threshold) / faces;
    result.failure_rate += (error > result.threshold ? 1 : 0) / faces;
  }
  for (const Mean& point : points) result.point_errors.push_back(point.value());
  for (const Mean& point : scaled_points) result.scaled_point_errors.push_back(point.value());
  result.scaled_mean = mean(scaled_errors);
  result.scaled_median = median(scaled_errors);
  for (const Mean& region : regions) result.region_errors.push_back(region.value());
  return result;
}

Annotations match(const Annotations& truth, const Annotations& predictions) {
  std::multimap<std::string, std::size_t> by_file, by_stem;
  for (std::size_t i = 0; i < predictions.faces.size(); ++i) {
    by_file.emplace(predictions.faces[i].file, i);
    by_stem.emplace(stem(predictions.faces[i].file), i);
  }
  struct Pair {
    bool by_stem;
    float distance;
    std::size_t truth, prediction;
    auto key() const { return std::tie(by_stem, distance, truth, prediction); }
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < truth.faces.size(); ++i) {
    const Annotation& face = truth.faces[i];
    auto range = by_file.equal_range(face.file);
    const bool by_name = range.first == range.second;
    if (by_name) range = by_stem.equal_range(stem(face.file));
    for (auto candidate = range.first; candidate != range.second; ++candidate) {
      const Shape& predicted = predictions.faces[candidate->second].points;
      const float distance = (centre(predicted) - centre(face.points)).norm();
      pairs.push_back({by_name, std::isnan(distance) ? std::numeric_limits<float>::max() : distance,
                       i, candidate->second});
    }
  }
  // The nearest of all first: a face that was not found must not take its neighbour's prediction.
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.key() < b.key(); });
  Annotations matched;
  matched.ids = predictions.ids;
  matched.names = predictions.names;
  matched.folder = predictions.folder;
  for (const Annotation& face : truth.faces) matched.faces.push_back({face.file, Shape(2, 0), {}});
  std::vector<bool> found(truth.faces.size(), false), used(predictions.faces.size(), false);
  for (const Pair& pair : pairs) {
    if (found[pair.truth] || used[pair.prediction]) continue;
    found[pair.truth] = used[pair.prediction] = true;
    matched.faces[pair.truth] = predictions.faces[pair.prediction];
  }
  return matched;
}

std::vector<double> cumulative(const std::vector<double>& errors,
                               const std::vector<double>& thresholds) {
  std::vector<double> shares;
  for (double threshold : thresholds)
    shares.push_back(double(std::count_if(errors.begin(), errors.end(),
                                          [=](double error) { return error <= threshold; })) /
                     double(errors.size()));
  return shares;
}

std::vector<std::size_t> worst_first(const Evaluation& result, int count) {
  std::vector<std::size_t> order(result.errors.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return result.errors[a] > result.errors[b];
  });
  order.resize(std::min(order.size(), std::size_t(std::max(0, count))));
  return order;
}

}  // namespace sdm::face
