#include "sdm/linear/penalty.h"

#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm {

void Penalty::validate() const {
  if (values.empty()) throw Error("the penalty has no value, expected at least one");
  if (kind != Kind::kHeldOut && values.size() != 1)
    throw Error(formatted("the penalty has {} values, expected one", values.size()));
  for (const double value : values)
    if (!std::isfinite(value) || value < 0)
      throw Error(
          formatted("the penalty is {}, expected a finite number that is not negative", value));
}

}  // namespace sdm
