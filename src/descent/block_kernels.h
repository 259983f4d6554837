#pragma once

#include "sdm/base/types.h"

// The arithmetic of many problems at once, compiled for each kind of processor. Blocks are stored
// row by row with room for kBlockColumns columns; columns beyond `columns` may be computed too and
// mean nothing.
namespace sdm {

inline constexpr Index kBlockColumns = 64;

/// out (rows x columns) = a (rows x inner, row by row) * b (inner x columns).
void multiply_block(const double* a, Index rows, Index inner, const double* b, Index columns,
                    double* out);

/// z = weight (g(values) - target) and sums[i] = |z.col(i)|^2, with g(v) = v, or sqrt(v + 3/8)
/// where `root`. `target` is compressed already.
void residual_block(bool root, const double* values, const double* target, const double* weight,
                    Index rows, Index columns, double* z, double* sums);

/// delta.row(i) = sum over l of terms.row(l) * products.row(l n + i).
void contract_block(const double* terms, const double* products, Index term_count, Index n,
                    Index columns, double* delta);

}  // namespace sdm
