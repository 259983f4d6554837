#include "report/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace sdm::report {
namespace {

using testing::HasSubstr;

TEST(Machine, NamesItsCoresAndTheCompiler) {
  EXPECT_THAT(machine(), HasSubstr(" cores"));
  EXPECT_THAT(machine(), HasSubstr("; compiler "));
}

TEST(Machine, WritesTheDateOfGreenwich) {
  const std::string text = date_and_time();
  ASSERT_EQ(text.size(), std::string("2024-01-31 13:45 UTC").size()) << text;
  // Greenwich's year from the seconds since 1970, by the mean length of a year: right within a day.
  const double year = 1970 + double(std::time(nullptr)) / (365.2425 * 24 * 3600);
  EXPECT_NEAR(std::stod(text.substr(0, 4)) + (std::stod(text.substr(5, 2)) - 0.5) / 12, year, 0.1);
}

TEST(Machine, CountsTheTimeOfWork) {
  const double before = processor_seconds(), all_before = process_seconds();
  // The two clocks have different steps; a clock that stands lets the test run into its time limit.
  while (processor_seconds() <= before || process_seconds() <= all_before) {
  }
  EXPECT_GT(processor_seconds(), before);
  EXPECT_GT(process_seconds(), all_before);
}

}  // namespace
}  // namespace sdm::report
