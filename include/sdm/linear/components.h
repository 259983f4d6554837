#pragma once

#include "sdm/base/random.h"
#include "sdm/linear/normal_equations.h"

namespace sdm::linear {

/// The leading principal components of the features behind the equations, as orthonormal columns
/// (features x components): as few as keep the given share of their energy. Randomised subspace
/// iteration with Rayleigh-Ritz, so the cost is that of a few products with the Gram matrix; the
/// energy kept is measured, not estimated. `random` draws the start.
template <class Scalar>
Matrix<Scalar> principal_components(const NormalEquations<Scalar>& equations, double energy,
                                    bool centred, Random& random, ThreadPool& pool);

/// An orthonormal basis of the span of the samples (of their differences when centred). With fewer
/// samples than features, ridge in this basis gives the very map of the dual form: the penalty is
/// invariant under rotations, and the map has no part outside the span.
template <class Scalar>
Matrix<Scalar> sample_span(ConstMatrixRef<Scalar> samples, bool centred);

}  // namespace sdm::linear
