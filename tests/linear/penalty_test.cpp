#include "sdm/linear/penalty.h"

#include <limits>

#include "tests/io/expect_error.h"

namespace sdm {
namespace {

using io::expect_error;

TEST(Penalty, AcceptsZeroAndPositiveNumbers) {
  Penalty::given(0).validate();
  Penalty::relative(1e-3).validate();
  Penalty::held_out().validate();
}

TEST(Penalty, NamesABadValue) {
  expect_error([] { Penalty::given(-1).validate(); }, "the penalty is -1");
  expect_error([] { Penalty::relative(std::numeric_limits<double>::infinity()).validate(); },
               "the penalty is inf");
  expect_error([] { Penalty::held_out({1, -3}).validate(); }, "the penalty is -3");
  expect_error([] { Penalty::held_out({}).validate(); }, "the penalty has no value");
  expect_error(
      [] {
        Penalty{Penalty::Kind::kGiven, {1, 2}}.validate();
      },
      "the penalty has 2 values, expected one");
}

}  // namespace
}  // namespace sdm
