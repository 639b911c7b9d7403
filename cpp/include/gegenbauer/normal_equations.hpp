#pragma once
/// Sums over samples and sums over terms: the two ways to the normal equations that evaluate features. G is never held;
/// a block of it is evaluated into packed panels and used at once. Nothing here knows a penalty or a solve.
///
/// Rows may be scaled by d_s (the square root of a sample weight): wherever G stands below, d_s G is meant. Targets
/// come already scaled.

#include "gegenbauer/design.hpp"
#include "gegenbauer/parallel.hpp"

namespace gegenbauer {

/// gram += lower triangle of [G, Y]' [G, Y]: (L + K, L + K), column-major; its last rows are Y'G and Y'Y, which are
/// float64 in either precision. The strict upper part is undefined afterwards. A gram of shape (L + K, L) leaves out
/// Y'Y, which no solution needs. Cost S (L + K)^2 flops, or S L (L + 2 K) without Y'Y; in float32 at nearly twice the
/// rate and another S K L for Y'G; memory 8 kB a term, or 8 MB if that is more.
///
/// In float32 univariate values are rounded once to float, and terms are float. It is an offer: a basis whose terms
/// leave the comfortable range of float32 is computed in float64. With u = 2^-24, and terms of p univariate factors, an
/// entry is off by at most (256 + 4 p + 2) u sqrt(sum of squares of one side, times that of the other), whatever the
/// number of samples; a few 1e-7 are usual.
void accumulate_gram(const Design& design, MatrixRef gram, const Control& control,
                     Precision precision = Precision::float64);

/// cross += Y' G, shape (K, L). Cost 2 S K L flops and S L for the evaluation.
void accumulate_cross(const Design& design, MatrixRef cross, const Control& control);

/// cross += (Y - G W)' G for weights (L, K), shape (K, L); returns the norm of Y - G W, which is made and used block by
/// block. Cost 4 S K L flops and S L for the evaluation; memory 16 kB a term, and W once more.
[[nodiscard]] double accumulate_residual_cross(const Design& design, const ConstMatrixRef& weights, MatrixRef cross,
                                               const Control& control);

/// Whether that is faster for so many targets than predictions and their residuals' sums one after the other.
[[nodiscard]] bool joins_residuals(Index n_targets);

/// kernel += lower triangle of the sum over the terms l >= first_term of G_sl G_rl: (S, S), column-major. Targets are
/// not used. Cost S^2 L flops; memory 8 kB a sample, or 8 MB if that is more.
void accumulate_kernel(const Design& design, Index first_term, MatrixRef kernel, const Control& control,
                       Precision precision = Precision::float64);

}  // namespace gegenbauer
