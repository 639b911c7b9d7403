#pragma once
/// A ridge problem by orthogonal factorisations of the data themselves: where Cholesky would lose the answer, and for
/// gamma = 0, whose solution is the Moore-Penrose one: of all that leave the least residual, the one whose penalised
/// weights are shortest.

#include "gegenbauer/ridge_problem.hpp"

namespace gegenbauer {

/// QR of [G; sqrt(gamma) I], a block of rows after the other; for any problem. Cost 2 S L^2 flops, memory O(L^2).
[[nodiscard]] RidgeSolution solve_by_rows(const Problem& problem);

/// LQ of [G, sqrt(gamma) I] for S <= L, after a free constant was eliminated. Cost 2 S^2 L flops, memory O(S L).
[[nodiscard]] RidgeSolution solve_by_columns(const Problem& problem);

}  // namespace gegenbauer
