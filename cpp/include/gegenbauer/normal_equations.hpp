#pragma once
/// Sums over samples and sums over terms: the two ways to the normal equations that evaluate features. G is never held;
/// a block of it is evaluated into packed panels and used at once. Nothing here knows a penalty or a solve.
///
/// Rows may be scaled by d_s (the square root of a sample weight): wherever G stands below, d_s G is meant. Targets
/// come already scaled.

#include "gegenbauer/design.hpp"
#include "gegenbauer/parallel.hpp"

namespace gegenbauer {

/// gram += lower triangle of [G, Y]' [G, Y]: (L + K, L + K), column-major; its last rows are Y'G and Y'Y. The strict
/// upper part is undefined afterwards. Cost S (L + K)^2 flops; memory 4 kB a term.
void accumulate_gram(const Design& design, MatrixRef gram, const Control& control);

/// cross += Y' G, shape (K, L). Cost 2 S K L flops and S L for the evaluation.
void accumulate_cross(const Design& design, MatrixRef cross, const Control& control);

/// kernel += lower triangle of the sum over the terms l >= first_term of G_sl G_rl: (S, S), column-major. Targets are
/// not used. Cost S^2 L flops; memory 2 kB a sample.
void accumulate_kernel(const Design& design, Index first_term, MatrixRef kernel, const Control& control);

}  // namespace gegenbauer
