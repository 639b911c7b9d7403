#pragma once
/// A ridge problem by Cholesky factorisation of its normal equations, with refinement from the data.

#include <optional>

#include "gegenbauer/ridge_problem.hpp"

namespace gegenbauer {

/// (gamma I + G'G) W = G'Y for the engines primal and moments, (gamma I + GG') a = Y and W = G'a for dual and kernel.
/// Nothing when the factor cannot carry the answer, or when refinement did not make up for products in float32. Throws
/// NotPositiveDefinite only when Cholesky was requested and fails in float64.
[[nodiscard]] std::optional<RidgeSolution> solve_by_cholesky(const Problem& problem, Engine engine,
                                                             Precision precision);

}  // namespace gegenbauer
