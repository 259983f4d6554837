#pragma once

#include "sdm/base/types.h"

// The small products of a face, compiled for each kind of processor.
namespace sdm::face {

/// out += matrix x, the matrix column by column.
void add_product(const Matrix<float>& matrix, const float* x, float* out);
float dot(const float* a, const float* b, Index size);

}  // namespace sdm::face
