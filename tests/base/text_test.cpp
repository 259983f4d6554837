#include "sdm/base/text.h"

#include <gmock/gmock.h>

#include "sdm/base/error.h"

namespace sdm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(TextLines, HaveNeitherLineEndsNorAByteOrderMark) {
  EXPECT_THAT(TextLines("a", "\xEF\xBB\xBFone\r\n\ntwo\rthree\nlast").lines,
              ElementsAre("one", "", "two\rthree", "last"));
  EXPECT_THAT(TextLines("a", "one\n").lines, ElementsAre("one"));
  EXPECT_THAT(TextLines("a", "").lines, IsEmpty());
}

TEST(TextLines, AreCountedFromOneInErrors) {
  const TextLines text("a.csv", "x\ny\n");
  EXPECT_THAT([&] { text.fail(1, "no number"); }, ThrowsMessage<Error>("a.csv:2: no number"));
}

TEST(Text, IsStrippedOfTheBlanksAroundIt) {
  EXPECT_EQ(stripped(" \ta b\t "), "a b");
  EXPECT_EQ(stripped(" \t"), "");
}

TEST(Text, CellsMayBeEmptyAndWordsMayNot) {
  EXPECT_THAT(split_cells("a, b ,,c d,"), ElementsAre("a", "b", "", "c d", ""));
  EXPECT_THAT(split_cells(""), ElementsAre(""));
  EXPECT_THAT(split_words("  a\t b  c,d "), ElementsAre("a", "b", "c,d"));
  EXPECT_THAT(split_words(" , "), ElementsAre(","));
  EXPECT_THAT(split_words("a; b,c\td", ",; \t"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(split_words(" \t"), IsEmpty());
}

TEST(Text, WhatIsQuotedComesBackFromASplitLine) {
  for (const std::string text : {"plain", "a b", "a,b", "say \"a, b\"", "\"", "tab\tbed"}) {
    EXPECT_THAT(split_cells("first," + quoted(text) + ",last"), ElementsAre("first", text, "last"));
    EXPECT_THAT(split_words("first " + quoted(text) + " last"), ElementsAre("first", text, "last"));
  }
  EXPECT_EQ(quoted("plain"), "plain");
  EXPECT_EQ(quoted("a b", ","), "a b");
  EXPECT_EQ(quoted("a,b", ","), "\"a,b\"");
  EXPECT_EQ(quoted("a\nb", ","), "\"a\nb\"");
}

TEST(Text, IsANumberWholeAndFiniteOrNone) {
  EXPECT_EQ(number_in(" 1.5\t"), 1.5);
  EXPECT_EQ(number_in("+2e3"), 2000);
  EXPECT_EQ(number_in("-.25"), -0.25);
  for (const char* text : {"", " ", "x", "1o", "1 2", "--1", "+", "nan", "inf", "1e300", "0x10"})
    EXPECT_FALSE(number_in(text)) << text;
  EXPECT_EQ(to_number("7"), 7);
  EXPECT_THAT([] { to_number(" 1o "); }, ThrowsMessage<Error>("'1o', expected a number"));
  EXPECT_THAT(to_numbers(" 1 -2.5\t3"), ElementsAre(1, -2.5, 3));
  EXPECT_THAT(to_numbers("1,2 3", ", "), ElementsAre(1, 2, 3));
  EXPECT_THAT(to_numbers(""), IsEmpty());
  EXPECT_THAT([] { to_numbers("1 two"); }, ThrowsMessage<Error>("'two', expected a number"));
}

TEST(Utf8, IsKnownByItsBytes) {
  for (const char* good : {"", "plain", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\x7F"})
    EXPECT_TRUE(is_utf8(good)) << good;
  // Cut, alone, overlong, a surrogate, beyond the last.
  for (const char* bad : {"\xC3", "\xA4", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\xFF", "a\xE2\x82z"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

TEST(APrintableText, HoldsNothingThatATerminalObeys) {
  EXPECT_EQ(printable("a\tb\n\xC3\xA4"), "a\tb\n\xC3\xA4");
  EXPECT_EQ(printable("\x1b[31mred\r\x7f"), "\\x1b[31mred\\x0d\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m");  // the same in one character
  EXPECT_EQ(printable("m\xff.sdm"), "m\\xff.sdm");
}

}  // namespace
}  // namespace sdm
