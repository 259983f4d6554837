#include "experiments/faces/degraded.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "experiments/face_dlib.h"
#include "report/statistics.h"
#include "sdm/base/random.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/markup.h"
#include "sdm/image/augment.h"
#include "sdm/opencv/image.h"

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;

constexpr double kOrdinaryWidth = 120;  // px, of the faces that are blurred or darkened
constexpr double kPhotons = 2000;       // of a white pixel in full light
constexpr double kReadNoise = 1;        // grey levels
constexpr double kFailed = 0.1;         // of the outer eye corners' distance
constexpr char kBoxesOf[] = "dlib";

struct Degradation {
  std::string name, label;
  bool log_x = false;
  std::vector<double> at;
  std::function<BoxedFace(const BoxedFace&, double at, std::uint64_t face)> apply;
};

std::vector<Degradation> degradations(const ExperimentContext& context) {
  const std::uint64_t seed = context.seed;
  const auto ordinary = [](const BoxedFace& face) { return shrunk_to(face, kOrdinaryWidth); };
  std::vector<Degradation> all{
      {"size",
       "width of the face, px",
       true,
       {20, 24, 32, 48, 64, 100, 140, 200},
       [](const BoxedFace& face, double at, std::uint64_t) { return shrunk_to(face, at); }},
      {"gaussian_blur",
       "deviation of the blur, % of the face's width",
       false,
       {0, 1, 2, 3, 4, 6},
       [=](const BoxedFace& face, double at, std::uint64_t) {
         return gaussian_blurred(ordinary(face), at);
       }},
      {"motion_blur",
       "length of the blur, % of the face's width",
       false,
       {0, 4, 8, 12, 16, 24},
       [=](const BoxedFace& face, double at, std::uint64_t i) {
         return motion_blurred(ordinary(face), at,
                               Random(seed, "blur", i).uniform(0, std::numbers::pi));
       }},
      {"low_light",
       "times less light",
       true,
       {1, 4, 8, 16, 32, 64},
       [=](const BoxedFace& face, double at, std::uint64_t i) {
         return in_less_light(ordinary(face), at, seed, i);
       }}};
  if (context.quick)
    for (Degradation& one : all) one.at = {one.at[1], one.at[one.at.size() - 2]};
  return all;
}

std::vector<BoxedFace> read_boxed(const ExperimentContext& context, const fs::path& folder,
                                  const std::string& set, const face::Model& model,
                                  ThreadPool& pool) {
  face::Annotations truth = face::read_annotations(folder / (set + ".csv"));
  face::give_boxes(truth, face::read_boxes(folder / (set + "_boxes.csv"), kBoxesOf));
  const std::size_t every = context.quick ? 16 : 1;
  std::vector<BoxedFace> faces((truth.faces.size() + every - 1) / every);
  pool.run(Index(faces.size()), [&](Index k, int) {
    const std::size_t i = std::size_t(k) * every;
    const face::Annotation& one = truth.faces[i];
    faces[std::size_t(k)] = {
        opencv::read_grey(truth.path(one)), one.points,
        one.box ? *one.box
                : face::perturbed_box(one.points, model.mean, model.convention(kBoxesOf),
                                      context.seed, i)};
  });
  return faces;
}

double error_of_face(const face::Shape& found, const face::Shape& truth) {
  const auto [right, left] = face::ibug(68).unit;
  return double(face::mean_distance(found, truth)) /
         double((truth.col(right) - truth.col(left)).norm());
}

image::Image<float> to_floats(const image::Image<std::uint8_t>& picture) {
  image::Image<float> out(picture.width(), picture.height());
  for (int y = 0; y < out.height(); ++y)
    for (int x = 0; x < out.width(); ++x) out(x, y) = float(picture(x, y));
  return out;
}

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

}  // namespace

double BoxedFace::width() const {
  return double(points.row(0).maxCoeff() - points.row(0).minCoeff());
}

BoxedFace shrunk_to(const BoxedFace& face, double width) {
  const double wanted = width / face.width();
  if (wanted >= 1) return face;
  const auto shrunk = [&](int size) { return std::max(1, int(std::lround(wanted * size))); };
  const cv::Size size(shrunk(face.picture.width()), shrunk(face.picture.height()));
  BoxedFace small = face;
  small.picture = image::Image<std::uint8_t>(size.width, size.height);
  cv::Mat pixels(size, CV_8U, small.picture.view().data);
  cv::resize(opencv::mat(face.picture), pixels, size, 0, 0, cv::INTER_AREA);
  const Eigen::Array2f scale(float(size.width) / float(face.picture.width()),
                             float(size.height) / float(face.picture.height()));
  // Pixel centres have whole coordinates.
  small.points = ((face.points.array() + 0.5F).colwise() * scale - 0.5F).matrix();
  const face::Box& box = face.box;
  small.box = {(box.x + 0.5F) * scale.x() - 0.5F, (box.y + 0.5F) * scale.y() - 0.5F,
               box.width * scale.x(), box.height * scale.y()};
  return small;
}

BoxedFace gaussian_blurred(BoxedFace face, double deviation) {
  const double sigma = deviation / 100 * face.width();
  if (sigma <= 0) return face;
  cv::Mat pixels(face.picture.height(), face.picture.width(), CV_8U, face.picture.view().data);
  cv::GaussianBlur(pixels.clone(), pixels, cv::Size(), sigma, sigma, cv::BORDER_REPLICATE);
  return face;
}

BoxedFace motion_blurred(BoxedFace face, double length, double angle) {
  image::Image<float> pixels = to_floats(face.picture);
  image::motion_blur(pixels, float(length / 100 * face.width()), float(angle), pixels);
  for (int y = 0; y < pixels.height(); ++y)
    for (int x = 0; x < pixels.width(); ++x) face.picture(x, y) = to_byte(double(pixels(x, y)));
  return face;
}

BoxedFace in_less_light(BoxedFace face, double times, std::uint64_t seed, std::uint64_t index) {
  Random random(seed, "photons", index);
  for (int y = 0; y < face.picture.height(); ++y)
    for (int x = 0; x < face.picture.width(); ++x) {
      const double level = double(face.picture(x, y)) / times;
      // As many photons as expected, give or take the root of their number.
      const double photon = 255 / kPhotons, deviation = std::sqrt(level * photon);
      face.picture(x, y) = to_byte(level + std::hypot(deviation, kReadNoise) * random.normal());
    }
  return face;
}

void measure_degraded(const ExperimentContext& context, const fs::path& folder,
                      const face::Model& accurate, const face::Model& fast, Results& results) {
  const bool with_dlib = have_dlib() && fs::exists(kDlibModel);
  std::vector<std::string> names{"SDM accurate", "SDM fast"};
  face::Method dlib;
  if (with_dlib) {
    names.emplace_back("dlib, shipped");
    dlib = dlib_method(names.back(), kDlibModel);
  }
  ThreadPool pool(context.threads);
  std::vector<face::Aligner> accurate_of, fast_of;  // one for each thread
  for (int i = 0; i < pool.threads(); ++i) {
    accurate_of.emplace_back(accurate);
    fast_of.emplace_back(fast);
  }
  const std::vector<Degradation> kinds = degradations(context);
  const std::pair<const char*, const char*> sets[] = {
      {"dev", "the development faces"}, {"lfpw_test", "LFPW test, for the report alone"}};
  for (const auto& [set, told] : sets) {
    if (!fs::exists(folder / fmt::format("{}.csv", set)) ||
        !fs::exists(folder / fmt::format("{}_boxes.csv", set))) {
      context.say(fmt::format("degraded faces of {} left out: no such file, or no boxes", set));
      continue;
    }
    const std::vector<BoxedFace> faces = read_boxed(context, folder, set, accurate, pool);
    Figure figure;
    Table table{{{"degraded by", "at", "faces"}}};
    for (const std::string& name : names) table.lines[0].push_back(name + ": median %, over 10 %");
    for (const Degradation& kind : kinds) {
      LineChart chart{kind.name, kind.label, "median error, % of the eye distance"};
      std::replace(chart.title.begin(), chart.title.end(), '_', ' ');
      chart.log_x = kind.log_x;
      for (const std::string& name : names) chart.series.push_back({name, {}, {}});
      for (const double at : kind.at) {
        context.report(0, fmt::format("{}: {}", set, chart.title));
        std::vector<std::vector<double>> errors(names.size(),
                                                std::vector<double>(faces.size(), NAN));
        pool.run(Index(faces.size()), [&](Index index, int worker) {
          const auto i = std::size_t(index);
          if (kind.name == "size" && faces[i].width() < at) return;
          const BoxedFace face = kind.apply(faces[i], at, i);
          const auto fit = [&](std::vector<face::Aligner>& aligners, const face::Model& model) {
            return error_of_face(aligners[std::size_t(worker)]
                                     .align(face.picture, face.box, model.convention(kBoxesOf))
                                     .points,
                                 face.points);
          };
          errors[0][i] = fit(accurate_of, accurate);
          errors[1][i] = fit(fast_of, fast);
          if (with_dlib)
            errors[2][i] = error_of_face(dlib.find(face.picture, face.box), face.points);
        });
        const auto count = std::count_if(errors[0].begin(), errors[0].end(),
                                         [](double error) { return std::isfinite(error); });
        if (count == 0) continue;
        table.lines.push_back({chart.title, fmt::format("{:g}", at), std::to_string(count)});
        for (std::size_t m = 0; m < names.size(); ++m) {
          const double median = 100 * finite_median(errors[m]), mean = 100 * finite_mean(errors[m]);
          const double failed =
              100.0 *
              double(std::count_if(errors[m].begin(), errors[m].end(),
                                   [](double error) { return error > kFailed; })) /
              double(count);
          const Results::Json extra{{"at", at}};
          const std::string where = fmt::format("{}_{}", set, kind.name);
          results.add(where, names[m], "median_percent", median, "%", extra);
          results.add(where, names[m], "mean_percent", mean, "%", extra);
          results.add(where, names[m], "failures_over_10_percent", failed, "%", extra);
          table.lines.back().push_back(fmt::format("{:.2f}, {:.1f}", median, failed));
          chart.series[m].x.push_back(at);
          chart.series[m].y.push_back(median);
        }
      }
      figure.charts.emplace_back(std::move(chart));
    }
    context.say(fmt::format("degraded, {}\n{}", told, format_table(table.lines)));
    const std::string about = fmt::format(
        "{} faces: {}. All methods start from the same boxes, those of dlib's detector in the "
        "pictures as they were (a perturbed true one where it found none), moved with the picture. "
        "A face's width is that of the box around its 68 points; faces that were smaller are left "
        "out of a size, and those that are blurred or darkened are {:g} px wide. In full light a "
        "white pixel has {:g} photons, and reading adds a grey level of noise. dlib's model has "
        "very likely seen these pictures, or their like, in its training.",
        faces.size(), told, kOrdinaryWidth, kPhotons);
    results.exhibits.push_back({fmt::format("degraded_{}", set),
                                fmt::format("Small, blurred and dark faces: {}", set), "", about,
                                figure});
    results.exhibits.push_back({fmt::format("degraded_{}_table", set),
                                fmt::format("Small, blurred and dark faces in numbers: {}", set),
                                "", "Median error and the share of faces off by more than 10 %.",
                                table});
  }
}

}  // namespace sdm::experiments
