#include "apps/sdm/cross_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/sdm/annotations.h"
#include "apps/sdm/output.h"
#include "apps/sdm/sheet.h"
#include "apps/sdm/tell.h"
#include "report/plot.h"
#include "report/results.h"
#include "report/statistics.h"
#include "sdm/face/data/evaluation.h"
#include "sdm/face/data/markup.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The errors of one point, or of all.
struct Errors {
  std::vector<double> pixels, shares, scaled;
};

Json to_json(const std::vector<double>& errors) {
  if (errors.empty()) return nullptr;
  return {{"mean", report::finite_mean(errors)},
          {"median", report::finite_quantile(errors, 0.5)},
          {"q95", report::finite_quantile(errors, 0.95)}};
}

// A label that a model that had not seen it does not agree with.
struct Doubt {
  std::size_t face = 0;
  Index point = 0;
  double pixels = 0, usual = 0;

  double times() const { return pixels / usual; }
};

class Report {
 public:
  Report(const TrainingSet& set, const std::vector<face::Shape>& found) : set_(set) {
    const face::Annotations& truth = set.annotations;
    by_eyes_ = markup_of(truth).unit.first >= 0;
    const auto normaliser =
        by_eyes_ ? face::Normaliser::outer_eyes : face::Normaliser::box_diagonal;
    points_.resize(truth.ids.size());
    for (std::size_t i = 0; i < set.faces.size(); ++i) {
      const face::Shape& known = set.faces[i].truth;
      boxless_ += set.faces[i].boxes.empty() || !(set.faces[i].boxes[0].width > 0) ? 1 : 0;
      double length = 0;
      try {
        length = face::normalising_length(known, truth.ids, normaliser);
      } catch (const std::exception&) {
        length = 0;  // a point it needs is missing in this face
      }
      for (Index p = 0; p < known.cols(); ++p) {
        const auto off = static_cast<double>((known.col(p) - found[i].col(p)).norm());
        if (!std::isfinite(off)) continue;
        const double pixels = off * set.pixel_sizes[i];
        for (Errors* errors : {&points_[static_cast<std::size_t>(p)], &all_}) {
          errors->pixels.push_back(pixels);
          if (length > 0) errors->shares.push_back(100 * off / length);
          if (truth.faces[i].scale > 0) errors->scaled.push_back(pixels * truth.faces[i].scale);
        }
        doubts_.push_back({i, p, pixels, 0});
      }
    }
    keep_doubts();
  }

  void print(int parts) const {
    std::vector<std::vector<std::string>> lines{
        {"point", "mean px", "median", "95 %",
         by_eyes_ ? "mean % of the eyes" : "mean % of the diagonal", "median", "95 %"}};
    if (!all_.scaled.empty())
      lines[0].insert(lines[0].end(), {"mean in units of the scale", "median", "95 %"});
    const auto add = [&](const std::string& name, const Errors& errors) {
      std::vector<std::string> line{name};
      const auto three = [&](const std::vector<double>& values, const char* form) {
        for (const double value : {values.empty() ? NAN : report::finite_mean(values),
                                   values.empty() ? NAN : report::finite_quantile(values, 0.5),
                                   values.empty() ? NAN : report::finite_quantile(values, 0.95)})
          line.push_back(std::isfinite(value) ? fmt::format(fmt::runtime(form), value) : "-");
      };
      three(errors.pixels, "{:.2f}");
      three(errors.shares, "{:.3f}");
      if (!all_.scaled.empty()) three(errors.scaled, "{:.4g}");
      lines.push_back(line);
    };
    for (std::size_t p = 0; p < points_.size(); ++p)
      add(name_of(static_cast<Index>(p)), points_[p]);
    add("all", all_);
    say("\n{}-fold cross-validation, {} pictures{}:\n{}\n", parts, set_.faces.size(),
        boxless_ > 0 ? fmt::format(" ({} without a box started near the truth)", boxless_) : "",
        report::format_table(lines));
  }

  void write_json(const fs::path& path, int parts) const {
    const auto json_of = [](const Errors& errors) {
      return Json{{"pixels", to_json(errors.pixels)},
                  {"percent", to_json(errors.shares)},
                  {"scaled", to_json(errors.scaled)}};
    };
    Json json{{"parts", parts},
              {"pictures", set_.faces.size()},
              {"boxes_from_truth", boxless_},
              {"percent_of", by_eyes_ ? "outer_eyes" : "box_diagonal"},
              {"all", json_of(all_)},
              {"points", Json::array()},
              {"doubtful", Json::array()}};
    for (std::size_t p = 0; p < points_.size(); ++p) {
      Json one{{"point", name_of(static_cast<Index>(p))}};
      one.update(json_of(points_[p]));
      json["points"].push_back(one);
    }
    for (const Doubt& doubt : doubts_)
      json["doubtful"].push_back({{"file", set_.annotations.faces[doubt.face].file},
                                  {"where", set_.annotations.faces[doubt.face].where},
                                  {"point", name_of(doubt.point)},
                                  {"pixels", doubt.pixels},
                                  {"usual_pixels", doubt.usual}});
    report::write_text(path, report::json_text(json) + "\n");
  }

  void write_plot(const fs::path& path) const {
    report::BarChart chart{"Cross-validated error of each point", "error, pixels"};
    chart.series = {{"median", {}, {}}, {"95 %", {}, {}}};
    for (std::size_t p = 0; p < points_.size(); ++p) {
      if (points_[p].pixels.empty()) continue;
      chart.categories.push_back(name_of(static_cast<Index>(p)));
      chart.series[0].y.push_back(report::finite_quantile(points_[p].pixels, 0.5));
      chart.series[1].y.push_back(report::finite_quantile(points_[p].pixels, 0.95));
    }
    report::write_text(path, report::svg({chart}, 1));
  }

  /// Lists them and draws the faces they are in. False: there is none.
  bool tell_doubts(const fs::path& picture, const std::vector<face::Shape>& found) const {
    if (doubts_.empty()) return false;
    say("\nlabels far from what models that had not seen them found (please look):\n");
    for (const Doubt& doubt : doubts_) {
      const face::Annotation& face = set_.annotations.faces[doubt.face];
      say("{}: point {} is {:.1f} px off, usual are {:.1f}\n",
          face.where.empty() ? face.file : face.where + " " + face.file, name_of(doubt.point),
          doubt.pixels, doubt.usual);
    }
    std::vector<SheetFace> faces;
    std::vector<std::size_t> drawn;
    for (const Doubt& doubt : doubts_) {
      if (std::find(drawn.begin(), drawn.end(), doubt.face) != drawn.end()) continue;
      drawn.push_back(doubt.face);
      const face::Annotation& face = set_.annotations.faces[doubt.face];
      // The found points are in the trimmed picture: its labels tell how it was cut.
      const face::Similarity to_picture =
          face::fit_similarity(set_.faces[doubt.face].truth, face.points);
      face::Shape predicted = found[doubt.face];
      to_picture.to_image(found[doubt.face], predicted);
      faces.push_back({set_.annotations.path(face), face.points, predicted,
                       fmt::format("point {}: {:.0f} px {}", name_of(doubt.point), doubt.pixels,
                                   fs::path(face.file).stem().string())});
    }
    opencv::write_image(picture, numbered_sheet(faces));
    return true;
  }

 private:
  std::string name_of(Index point) const {
    const auto p = static_cast<std::size_t>(point);
    return set_.annotations.names.empty() ? std::to_string(set_.annotations.ids[p])
                                          : set_.annotations.names[p];
  }

  // Far beyond what is usual for that point, worst first.
  void keep_doubts() {
    constexpr double kTimes = 5;
    constexpr std::size_t kMost = 20;
    for (Doubt& doubt : doubts_)
      doubt.usual = std::max(
          0.5, report::finite_quantile(points_[static_cast<std::size_t>(doubt.point)].pixels, 0.5));
    std::erase_if(doubts_, [](const Doubt& doubt) { return doubt.times() < kTimes; });
    std::stable_sort(doubts_.begin(), doubts_.end(),
                     [](const Doubt& a, const Doubt& b) { return a.times() > b.times(); });
    doubts_.resize(std::min(doubts_.size(), kMost));
  }

  const TrainingSet& set_;
  bool by_eyes_ = false;
  int boxless_ = 0;
  std::vector<Errors> points_;
  Errors all_;
  std::vector<Doubt> doubts_;
};

}  // namespace

std::vector<fs::path> cross_validation_files(const fs::path& model) {
  std::vector<fs::path> files;
  for (const char* extension : {"cross-validation.json", "cross-validation.svg", "doubtful.png"})
    files.push_back(fs::path(model).replace_extension(extension));
  return files;
}

void report_cross_validation(const TrainingSet& set, const std::vector<face::Shape>& found,
                             int parts, const fs::path& model) {
  const std::vector<fs::path> files = cross_validation_files(model);
  const Report report(set, found);
  report.print(parts);
  report.write_json(files[0], parts);
  report.write_plot(files[1]);
  fs::remove(files[2]);
  const bool doubtful = report.tell_doubts(files[2], found);
  say("wrote {}, {}{}\n", files[0].string(), files[1].string(),
      doubtful ? " and " + files[2].string() : "");
}

}  // namespace sdm::app
