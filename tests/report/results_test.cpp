#include "report/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "sdm/base/error.h"

namespace sdm::report {
namespace {

using testing::HasSubstr;

Results sample() {
  Results results("demo");
  results.settings["seed"] = 7;
  results.add("a, b", "sdm", "error", 0.5, "px");
  results.add("c", "peer", "error", std::numeric_limits<double>::quiet_NaN(), "px", {{"step", 3}});
  return results;
}

TEST(Results, WritesTheSameRowsAsJsonAndCsv) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "sdm_results";
  sample().write(folder);
  const auto json = nlohmann::json::parse(std::ifstream(folder / "demo" / "results.json"));
  EXPECT_EQ(json.at("experiment"), "demo");
  EXPECT_EQ(json.at("settings").at("seed"), 7);
  EXPECT_EQ(json.at("rows").size(), 2U);
  EXPECT_EQ(json.at("rows")[0].at("case"), "a, b");
  EXPECT_EQ(json.at("rows")[0].at("value"), 0.5);
  EXPECT_TRUE(json.at("rows")[1].at("value").is_null());
  EXPECT_EQ(json.at("rows")[1].at("step"), 3);

  std::stringstream csv;
  csv << std::ifstream(folder / "demo" / "results.csv").rdbuf();
  EXPECT_EQ(csv.str(),
            "case,method,metric,value,unit,step\n\"a, b\",sdm,error,0.5,px,\nc,peer,error,,px,3\n");
}

TEST(Results, TellsWhichFileItCannotWrite) {
  const auto file = std::filesystem::path(testing::TempDir()) / "sdm_not_a_folder";
  std::ofstream(file) << "x";
  try {
    sample().write(file);
    FAIL() << "wrote into a file";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("sdm_not_a_folder"));
  }
}

TEST(Results, AreShownAsATableOfCasesAndMethods) {
  Results results("demo");
  results.add("x", "sdm", "error", 1);
  results.add("x", "peer", "error", 2);
  results.add("y", "peer", "error", 3);
  EXPECT_EQ(format_metric(results, "error"),
            "error  sdm  peer\nx        1     2\ny        -     3\n");
}

TEST(Results, AskedByNameAloneGiveTheRowWithoutFurtherFields) {
  Results results("demo");
  results.add("x", "sdm", "error", 1, "", {{"stage", 1}});
  results.add("x", "sdm", "error", 2);
  EXPECT_EQ(results.find("x", "sdm", "error")->value, 2);
  EXPECT_EQ(results.find("x", "sdm", "error", "stage", 1)->value, 1);
  EXPECT_EQ(results.find("x", "sdm", "error", "stage", 2), nullptr);
}

}  // namespace
}  // namespace sdm::report
