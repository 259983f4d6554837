#include "experiments/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sdm::experiments {
namespace {

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
}

TEST(Plot, AsDataHasNullWhereTheLineBreaks) {
  LineChart chart;
  chart.log_y = true;
  chart.series = {{"s", {0, 1, 2}, {1, 0, std::numeric_limits<double>::quiet_NaN()}}};
  const auto data = to_json(chart);
  EXPECT_EQ(data.at("series")[0].at("x").dump(), "[0.0,1.0,2.0]");
  EXPECT_EQ(data.at("series")[0].at("y").dump(), "[1.0,null,null]");
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
}  // namespace sdm::experiments
