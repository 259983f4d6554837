#include "report/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace sdm::report {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Plot, ShowsTitleLabelsAndLegendAsSafeText) {
  LineChart chart;
  chart.title = "a < b & c";
  chart.x_label = "step";
  chart.series = {{"ours", {0, 1, 2}, {1, 0.1, 0.01}}};
  chart.log_y = true;
  const std::string picture = svg({chart}, 1);
  EXPECT_THAT(picture, HasSubstr("a &lt; b &amp; c"));
  EXPECT_THAT(picture, HasSubstr(">step<"));
  EXPECT_THAT(picture, HasSubstr(">ours<"));
  EXPECT_THAT(picture, HasSubstr(">0.01<"));
}

TEST(Plot, LeavesAGapWhereAValueCannotBeShown) {
  LineChart chart;
  chart.log_y = true;
  chart.series = {{"s", {0, 1, 2, 3}, {1, 0, std::numeric_limits<double>::infinity(), 10}}};
  const std::string picture = svg({chart}, 1);
  EXPECT_THAT(picture, Not(HasSubstr("nan")));
  EXPECT_THAT(picture, Not(HasSubstr("inf")));
  // The pen moves to each end and draws nothing between them.
  EXPECT_THAT(picture, ContainsRegex("d='M[0-9. ]+M[0-9. ]+' fill='none'"));
}

// The height of the legend's first line: larger is lower.
double legend_line(const std::string& picture, const std::string& name) {
  const std::size_t end = picture.find(">" + name), at = picture.rfind("y='", end);
  return std::stod(picture.substr(at + 3));
}

TEST(Plot, PutsALongLegendWhereNoLineIs) {
  const std::string one(40, 'a'), two(40, 'b');
  LineChart chart;
  chart.series = {{one, {0, 1, 2, 3}, {0, 9, 9, 9}}, {two, {0, 1, 2, 3}, {0, 8, 9, 10}}};
  EXPECT_GT(legend_line(svg({chart}), one), 160) << "below lines that rise soon";
  chart.series = {{one, {0, 1, 2, 3}, {10, 1, 1, 1}}, {two, {0, 1, 2, 3}, {10, 2, 1, 0}}};
  EXPECT_LT(legend_line(svg({chart}), one), 160) << "above lines that fall soon";
}

TEST(Plot, SurvivesEmptyAndConstantData) {
  LineChart constant;
  constant.series = {{"s", {1, 2}, {3, 3}}};
  for (const auto& picture : {svg({}), svg({LineChart{}}), svg({BarChart{}}), svg({constant})}) {
    EXPECT_THAT(picture, Not(HasSubstr("nan")));
    EXPECT_THAT(picture, HasSubstr("</svg>"));
  }
}

TEST(Plot, DrawsABarForEveryCategoryAndSeries) {
  BarChart chart;
  chart.categories = {"one", "two"};
  chart.series = {{"a", {}, {1, 2}}, {"b", {}, {3, 4}}};
  const std::string picture = svg({chart}, 1);
  for (const char* name : {">one<", ">two<", ">a<", ">b<"}) EXPECT_THAT(picture, HasSubstr(name));
  // The bars alone have sizes with a decimal.
  std::vector<double> heights;
  for (std::size_t at = picture.find("<rect"); at != std::string::npos;
       at = picture.find("<rect", at + 1)) {
    char height[16];
    if (std::sscanf(picture.c_str() + at,
                    "<rect x='%*[0-9.]' y='%*[0-9.]' width='%*[0-9.]' height='%15[0-9.]' fill=",
                    height) == 1 &&
        std::string(height).find('.') != std::string::npos)
      heights.push_back(std::stod(height));
  }
  ASSERT_EQ(heights.size(), 4U);
  const double unit = heights[0];
  for (std::size_t i = 0; i < 4; ++i) {
    const double value = std::vector<double>{1, 3, 2, 4}[i];  // category by category
    EXPECT_NEAR(heights[i], value * unit, 0.3) << i;
  }
}

TEST(Plot, AsDataHasNullWhereTheLineBreaks) {
  LineChart chart;
  chart.log_y = true;
  chart.series = {{"s", {0, 1, 2}, {1, 0, std::numeric_limits<double>::quiet_NaN()}}};
  const auto data = to_json(chart, {});
  EXPECT_EQ(data.at("series")[0].at("x").dump(), "[0.0,1.0,2.0]");
  EXPECT_EQ(data.at("series")[0].at("y").dump(), "[1.0,null,null]");
}

LineChart with(const std::vector<std::string>& names) {
  LineChart chart;
  for (const std::string& name : names) chart.series.push_back({name, {0, 1}, {1, 2}});
  return chart;
}

TEST(Plot, DrawsOneChartAndFourInTheSameSizeAndType) {
  const Chart chart = with({"sdm", "newton"});
  const std::string one = svg({chart}), four = svg({chart, chart, chart, chart});
  const auto number = [](const std::string& picture, const std::string& key) {
    return std::stod(picture.substr(picture.find(key) + key.size()));
  };
  EXPECT_EQ(number(four, " width='"), 2 * number(one, " width='"));
  EXPECT_EQ(number(four, " height='"), 2 * number(one, " height='"));
  const auto part = [](const std::string& picture, const std::string& from, const std::string& to) {
    const std::size_t at = picture.find(from);
    return picture.substr(at, picture.find(to, at) - at);
  };
  EXPECT_EQ(part(one, "<style>", "</style>"), part(four, "<style>", "</style>"));
  EXPECT_EQ(part(one, "<g ", "</g>"), part(four, "<g ", "</g>"));
}

TEST(Plot, WritesNamesOfCategoriesInTheTypeSizeOfAllText) {
  BarChart chart;
  for (int i = 0; i < 18; ++i) chart.categories.push_back("category " + std::to_string(i));
  chart.series = {{"a", {}, std::vector<double>(18, 1)}};
  const std::string picture = svg({chart});
  EXPECT_THAT(picture, HasSubstr("rotate(-60)'>category 17<"));
  for (std::size_t at = picture.find("font"); at != std::string::npos;
       at = picture.find("font", at + 1))
    EXPECT_LT(at, picture.find("</style>")) << "a size of its own";
}

std::string colour_of(const Palette& palette, const std::string& name) {
  return palette.colour({{name, {}, {}}}, 0);
}

TEST(Palette, GivesAMethodTheSameColourInEveryChart) {
  const Palette one({with({"sdm", "newton"})});
  const Palette other({with({"something", "ceres", "SDM (2.51 %)"}), with({"else", "something"})});
  EXPECT_EQ(colour_of(one, "sdm"), colour_of(other, "SDM (2.51 %)"));
  // The picture and the data of the page agree, in a chart where it comes first and where last.
  for (const Chart& chart : {Chart(with({"something", "sdm"})), Chart(with({"sdm", "else"}))}) {
    EXPECT_THAT(svg({chart}, 1, other), HasSubstr(colour_of(one, "sdm")));
    for (const auto& series : to_json(chart, other).at("series"))
      EXPECT_EQ(series.at("colour"), colour_of(other, series.at("name")));
  }
}

TEST(Palette, TellsTheMethodsOfAChartApart) {
  for (const std::vector<std::string>& names : std::vector<std::vector<std::string>>{
           {"sdm", "newton"},
           {"sdm", "sdm_refined", "ceres"},
           {"sdm", "sdm_refined", "sdm_partition_refined", "posit", "iterative", "epnp", "sqpnp"},
           {"sdm", "sdm_paper", "lk_forward_additive", "lk_inverse_compositional", "ecc"},
           {"SDM accurate", "SDM fast", "one linear stage", "dlib, shipped", "dlib, same faces",
            "IntraFace", "a guest", "another"},
           {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}}) {
    const Palette palette({with(names)});
    std::set<std::string> colours;
    for (const std::string& name : names) colours.insert(colour_of(palette, name));
    EXPECT_EQ(colours.size(), names.size()) << names[0] << ", " << names[1];
  }
}

TEST(Palette, TellsLinesWithoutANameApart) {
  const LineChart chart = with({"", "", ""});
  const Palette palette({chart});
  EXPECT_NE(palette.colour(chart.series, 0), palette.colour(chart.series, 2));
}

TEST(Plot, DrawsBarsOfManySizesOnALogScale) {
  BarChart chart;
  chart.categories = {"one", "two", "three"};
  chart.series = {{"a", {}, {0.01, 100, 0}}};
  chart.log_y = true;
  const std::string picture = svg({chart}, 1);
  EXPECT_THAT(picture, Not(HasSubstr("nan")));
  EXPECT_THAT(picture, Not(HasSubstr("height='-")));
}

}  // namespace
}  // namespace sdm::report
