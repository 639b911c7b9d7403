#pragma once
/// The whole solve of the paper, R-WDD: W = (gamma I + G'G)^-1 G'Phi (eq.weights_solution) or, for few samples,
/// W = G'(gamma I + GG')^-1 Phi (eq.weights_solution1 with the inverse that is missing there). The one place that knows
/// both a basis and a penalty: it joins the sums, the factorisations, the refinement and the fallbacks.

#include "gegenbauer/ridge_problem.hpp"

namespace gegenbauer {

/// Minimises |D (G W - Phi)|^2 + gamma |W|^2 with D = diag(row_scale). The design's targets are unscaled here.
/// Throws std::invalid_argument for bad sizes, NotPositiveDefinite when solver = cholesky was requested and fails, and
/// TooLarge when Cholesky would lose the answer and the orthogonal factorisation needs more than options.max_bytes.
[[nodiscard]] RidgeSolution solve_ridge(const Design& design, const RidgeOptions& options, const Control& control);

/// The same from the statistic [G, Y]'[G, Y] (lower triangle, (L + K, L + K)) alone: Cholesky without the data.
[[nodiscard]] RidgeSolution solve_gram(const ConstMatrixRef& gram, Index n_terms, double gamma, bool penalize_constant,
                                       const Control& control);

/// Bytes that solve_ridge will hold beside its inputs, for a refusal before the work: without a fallback, which few
/// problems need and which may take far more.
[[nodiscard]] double estimate_bytes(const TensorBasis& basis, Index n_samples, Index n_outputs,
                                    const RidgeOptions& options);

}  // namespace gegenbauer
