#include "base/numbers.h"

#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "tests/temporary_folder.h"

namespace sdm {
namespace {

TEST(ParseNumber, ReadsEveryWayToWriteANumber) {
  EXPECT_EQ(parse_number("0"), 0.);
  EXPECT_EQ(parse_number("-12"), -12.);
  EXPECT_EQ(parse_number("+12"), 12.);
  EXPECT_EQ(parse_number("007"), 7.);
  EXPECT_EQ(parse_number(".5"), .5);
  EXPECT_EQ(parse_number("-.5"), -.5);
  EXPECT_EQ(parse_number("5."), 5.);
  EXPECT_EQ(parse_number("25e-2"), .25);
  EXPECT_EQ(parse_number("2.5E+1"), 25.);
  EXPECT_TRUE(std::signbit(parse_number("-0").value()));
}

TEST(ParseNumber, RefusesWhatIsNotANumberAndNothingElse) {
  for (const char* text :
       {"",      "+",    "-",     ".",   "-.",  "e5",        ".e5",   "1e",    "1e+",
        "+-1",   "--1",  " 1",    "1 ",  "1\n", "1,5",       "1.2.3", "1x",    "x1",
        "1e5.0", "0x10", "0x1p3", "nan", "inf", "-infinity", "1_000", "1'000", "\xd9\xa1"})
    EXPECT_FALSE(parse_number(text)) << text;
  EXPECT_FALSE(parse_number(std::string_view("1\0", 2)));
  EXPECT_FALSE(parse_number(std::string_view("1\0e5", 4)));
}

TEST(ParseNumber, ReadsOnlyThePartThatItIsGiven) {
  EXPECT_EQ(parse_number(std::string_view("1234").substr(1, 2)), 23.);
}

TEST(ParseNumber, RefusesNumbersBeyondTheLargestDoubleAndRoundsTheSmallestToZero) {
  EXPECT_EQ(parse_number("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_FALSE(parse_number("1.8e308"));
  EXPECT_FALSE(parse_number("-1e999999999999"));
  EXPECT_EQ(parse_number("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parse_number("1e-400"), 0.);
}

// 2^53 + 1 lies in the middle between two doubles; the digit that decides may come late.
TEST(ParseNumber, RoundsToTheNearestDouble) {
  EXPECT_EQ(parse_number("9007199254740993"), 9007199254740992.);
  EXPECT_EQ(parse_number("9007199254740993." + std::string(300, '0') + "1"), 9007199254740994.);
  EXPECT_EQ(parse_number("9007199254740992." + std::string(300, '9')), 9007199254740992.);
  EXPECT_EQ(parse_number("0." + std::string(60, '0') + "1e61"), 1.);
}

// Seventeen digits tell every double from its neighbours.
TEST(ParseNumber, GivesBackEveryDoubleThatWasPrintedInFull) {
  std::mt19937_64 bits(1);
  for (int i = 0; i < 10000; ++i) {
    const auto value = std::bit_cast<double>(std::uint64_t{bits()});
    if (!std::isfinite(value)) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", value);
    ASSERT_EQ(parse_number(text), value) << text;
  }
}

TEST(ParseNumber, ReadsAPointInALocaleThatWritesAComma) {
  const TemporaryFolder folder;
  const std::string locale = (folder / "de_DE.UTF-8").string();
  const std::string make = "localedef -f UTF-8 -i de_DE " + locale + " >/dev/null 2>&1";
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "localedef cannot make a German locale";
  ::setenv("LOCPATH", folder.path().c_str(), 1);
  const bool set = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  ::unsetenv("LOCPATH");
  if (!set) GTEST_SKIP() << "there is no German locale";
  char half[8];
  std::snprintf(half, sizeof half, "%.1f", 0.5);
  const std::optional<double> with_point = parse_number("-1.25e1"),
                              with_comma = parse_number("1,5");
  std::setlocale(LC_ALL, "C");
  ASSERT_STREQ(half, "0,5");
  EXPECT_EQ(with_point, -12.5);
  EXPECT_FALSE(with_comma);
}

}  // namespace
}  // namespace sdm
