#include "experiments/rigid/convergence.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <optional>

#include "experiments/rigid/followers.h"
#include "experiments/rigid/mat_file.h"
#include "report/statistics.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"

namespace sdm::experiments {
namespace {

using rigid::Warp;

constexpr int kIterations = 15;
using Points = Eigen::Matrix<double, 2, 3>;

/// The points that are moved: bottom left, bottom right, middle of the top.
Points canonical_points() {
  constexpr double kHalf = Scene::kTemplate / 2.0;
  Points points;
  points << -kHalf, kHalf, 0, kHalf, kHalf, -kHalf;
  return points;
}

Warp affine_between(const Points& from, const Points& to) {
  Eigen::Matrix3d a;
  a << from, Eigen::RowVector3d::Ones();
  Warp warp = Warp::Identity();
  warp.topRows<2>() = to * a.inverse();
  return warp;
}

/// A matrix of the published test (rigid/lk20 of the development data); null where it is not there.
std::optional<Matrix<double>> published(const ExperimentContext& context, const std::string& file,
                                        const std::string& name) {
  std::filesystem::path folder;
  try {
    folder = find_data(context, "rigid/lk20");
  } catch (const Error&) {
    return std::nullopt;
  }
  if (!std::filesystem::exists(folder / file)) return std::nullopt;
  const auto matrices = read_mat_file(folder / file);
  const auto found = matrices.find(name);
  if (found == matrices.end())
    throw Error(fmt::format("{}: no matrix {}", (folder / file).string(), name));
  return found->second;
}

/// Unit normals, six a trial: the published ones where they are, else drawn.
std::vector<Points> load_offsets(const ExperimentContext& context, std::string& source) {
  constexpr Index kTrials = 5000;
  std::optional<Matrix<double>> values = published(context, "affine_pt_offset.mat", "pt_offset");
  source = values ? "affine_pt_offset.mat" : "drawn";
  if (!values) {
    Random random(context.seed, "offsets");
    values = Matrix<double>::NullaryExpr(kTrials, 6, [&] { return random.normal(); });
  }
  std::vector<Points> offsets;
  for (Index i = 0; i < values->rows(); ++i) offsets.push_back(values->row(i).reshaped(2, 3));
  return offsets;
}

/// The picture of the published test with its template of 100 x 100 px, where it is there.
std::optional<Texture> load_takeo(const ExperimentContext& context) {
  const auto picture = published(context, "takeo.mat", "tdata.img");
  const auto corners = published(context, "takeo.mat", "tdata.tmplt");  // x, y, x, y from 1
  if (!picture || !corners) return std::nullopt;
  Texture takeo{"takeo", image::Image<float>(int(picture->cols()), int(picture->rows())), {}};
  for (int y = 0; y < picture->rows(); ++y)
    for (int x = 0; x < picture->cols(); ++x) takeo.picture(x, y) = float((*picture)(y, x));
  const auto at = [&](Index i) { return (*corners)(0, i); };
  takeo.anchor = {(at(0) + at(2)) / 2 - 1, (at(1) + at(3)) / 2 - 1};
  return takeo;
}

struct Case {
  std::string name;
  Conditions conditions;
  int trials;  // for each texture and sigma
};

std::vector<Case> make_cases(bool quick) {
  const int trials = quick ? 6 : 40;
  Conditions clean, relit, blurred, noisy;
  clean.noise = relit.noise = blurred.noise = 0;
  relit.gain = 0.6;
  relit.offset = 30 - 0.4 * 128;  // 0.6 v + 30
  blurred.blur = 9;
  noisy.noise = 10;
  std::vector<Case> cases = {{"clean", clean, trials},
                             {"relit", relit, trials},
                             {"blurred", blurred, trials},
                             {"noisy", noisy, trials}};
  if (!quick)
    for (const int level : {4, 8, 16, 32}) {
      Conditions c;
      c.noise = level;
      cases.push_back({fmt::format("noise_{}", level), c, trials / 4});
    }
  return cases;
}

/// Adds rows and charts of these cases, each over all textures.
void run_cases(const ExperimentContext& context, const std::vector<Texture>& textures,
               const std::vector<Case>& cases, const std::vector<Points>& offsets, Results& results,
               std::vector<Chart>& charts, const std::function<void(double)>& share) {
  const std::vector<int> sigmas =
      context.quick ? std::vector{2, 6, 10} : std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<std::string>& methods = follower_names();
  const Points points = canonical_points();
  const Warp still = Warp::Identity();

  // counts[case][method][sigma]
  std::vector counts(cases.size(),
                     std::vector(methods.size(), std::vector<double>(sigmas.size(), 0)));
  // Errors of a method, and of the first one beside it, where both are home.
  std::vector theirs(cases.size(), std::vector<std::vector<double>>(methods.size())), ours = theirs;
  for (std::size_t t = 0; t < textures.size(); ++t) {
    Scene scene(textures[t], context.seed);
    Conditions plain;
    plain.noise = 0;
    const image::ByteView first = scene.render(still, still, plain, 0);
    std::vector<std::unique_ptr<Follower>> followers;
    for (const std::string& method : methods)
      followers.push_back(make_follower(
          method, first, scene.region(),
          {.iterations = kIterations, .seed = context.seed, .threads = context.threads}));
    for (std::size_t c = 0; c < cases.size(); ++c) {
      share((double(t) + double(c) / double(cases.size())) / double(textures.size()));
      for (std::size_t s = 0; s < sigmas.size(); ++s)
        for (int trial = 0; trial < cases[c].trials; ++trial) {
          const std::size_t draw = t * std::size_t(cases[c].trials) + std::size_t(trial);
          const Points moved = points + sigmas[s] * offsets[draw % offsets.size()];
          const Warp motion = affine_between(points, moved);
          Conditions conditions = cases[c].conditions;
          conditions.blur_angle = std::numbers::pi * trial / cases[c].trials;
          const image::ByteView frame = scene.render(motion, motion, conditions, draw);
          double first_error = 0;
          for (std::size_t m = 0; m < methods.size(); ++m) {
            followers[m]->restart(scene.truth(still));
            const Warp found = followers[m]->update(frame);
            double square = 0;
            for (int i = 0; i < 3; ++i)
              square += (rigid::apply(found, points.col(i)) -
                         rigid::apply(scene.truth(motion), points.col(i)))
                            .squaredNorm();
            const double error = std::sqrt(square / 3);
            if (m == 0) first_error = error;
            if (!(error < 1)) continue;
            ++counts[c][m][s];
            if (!(first_error < 1)) continue;
            theirs[c][m].push_back(error);
            ours[c][m].push_back(first_error);
          }
        }
    }
  }

  for (std::size_t c = 0; c < cases.size(); ++c) {
    LineChart chart;
    chart.title = cases[c].name;
    chart.x_label = "sigma, px";
    chart.y_label = "converged, %";
    const double trials = double(cases[c].trials) * double(textures.size());
    for (std::size_t m = 0; m < methods.size(); ++m) {
      Series series{methods[m], {}, {}};
      for (std::size_t s = 0; s < sigmas.size(); ++s) {
        const double fraction = counts[c][m][s] / trials;
        results.add(cases[c].name, methods[m], "converged_fraction", fraction, "",
                    {{"sigma", sigmas[s]}, {"trials", int(trials)}});
        series.x.push_back(sigmas[s]);
        series.y.push_back(100 * fraction);
      }
      chart.series.push_back(std::move(series));
      if (m == 0 || theirs[c][m].empty()) continue;
      results.add(cases[c].name, methods[m], "median_error_where_both_converge",
                  finite_median(theirs[c][m]), "px",
                  {{"sdm", finite_median(ours[c][m])}, {"trials", theirs[c][m].size()}});
    }
    charts.push_back(std::move(chart));
  }
}

}  // namespace

std::vector<Chart> run_convergence(const ExperimentContext& context,
                                   const std::vector<Texture>& textures, Results& results,
                                   const std::function<void(double)>& share) {
  std::string source;
  const std::vector<Points> offsets = load_offsets(context, source);
  const std::optional<Texture> takeo = load_takeo(context);
  const double first_share = takeo ? 0.9 : 1;
  std::vector<Chart> charts;
  run_cases(context, textures, make_cases(context.quick), offsets, results, charts,
            [&](double done) { share(first_share * done); });
  if (takeo) {
    const int trials = context.quick ? 10 : 200;
    Conditions clean, noisy;
    clean.noise = 0;
    noisy.noise = 8;
    run_cases(context, {*takeo}, {{"takeo", clean, trials}, {"takeo_noise_8", noisy, trials / 2}},
              offsets, results, charts,
              [&](double done) { share(first_share + (1 - first_share) * done); });
  }
  results.settings["convergence"] = {{"iterations", kIterations}, {"converged_below_px", 1},
                                     {"offsets", source},         {"blur_px", 9},
                                     {"noisy_sigma", 10},         {"relit", "0.6 v + 30"}};
  return charts;
}

}  // namespace sdm::experiments
