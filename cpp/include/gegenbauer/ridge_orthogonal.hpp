#pragma once
/// A ridge problem by orthogonal factorisations of the data themselves: where Cholesky would lose the answer, and for
/// gamma = 0, whose solution is the Moore-Penrose one: of all that leave the least residual, the one whose penalised
/// weights are shortest.

#include "gegenbauer/ridge_problem.hpp"

namespace gegenbauer {

/// QR of [G; sqrt(gamma) I], a block of rows after the other; for any problem. Where the factor can carry a correction,
/// weights are refined by gradients of exact features; where a tiny penalty leaves it none, QR of G alone follows, and
/// directions of rounding are left out. Cost 2 S L^2 flops, twice that in the latter case, memory O(L^2).
[[nodiscard]] RidgeSolution solve_by_rows(const Problem& problem);

/// LQ of G for S <= L, after a free constant was eliminated, and QR of its triangle above sqrt(gamma) I. Cost 2 S^2 L +
/// 8 S^3 / 3 flops, memory O(S L).
[[nodiscard]] RidgeSolution solve_by_columns(const Problem& problem);

}  // namespace gegenbauer
