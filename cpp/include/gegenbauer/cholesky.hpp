#pragma once
/// Blocked Cholesky factorisation on the tiles, and the solves with its factor. Knows no basis.

#include <vector>

#include "gegenbauer/parallel.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// Overwrites the lower triangle of a symmetric positive definite matrix (n, n) by its Cholesky factor R' (lower), the
/// strict upper part is not read, and kept but for kOverwritten places above the diagonal. Throws NotPositiveDefinite.
/// Cost n^3 / 3 flops, in float32 at nearly twice the rate: then the factor is that of a matrix of which each entry
/// (i, j) is off by some 1e-7 of sqrt(M_ii M_jj).
void cholesky_in_place(MatrixRef matrix, const Control& control, Precision precision = Precision::float64);

/// Places above the diagonal of each column that cholesky_in_place() may write to.
inline constexpr Index kOverwritten = 192;

/// What pivoted_cholesky_in_place() found.
struct PivotedFactor {
  Index rank = 0;            ///< columns of L
  std::vector<Index> order;  ///< row i of L belongs to row order[i] of M
};

/// Overwrites the lower triangle of a symmetric positive semidefinite M (n, n) by a lower trapezoid L (n, rank) with
/// M = L L' in the order of the pivots, each the largest entry that is left of the diagonal. Where no more than
/// rounding(i) is left of the entry of row i, it is no pivot; L ends where there are no others, and the columns beyond
/// mean nothing. L is one column of NaN where the diagonal is not finite. Cost n rank^2 flops.
[[nodiscard]] PivotedFactor pivoted_cholesky_in_place(MatrixRef matrix, Vector rounding, const Control& control);

/// B := M^-1 B for M = R'R given its lower factor R' (n, n) and B (n, K). The columns of B are shared between threads.
/// Cost 2 n^2 K flops.
void solve_factored(const ConstMatrixRef& factor, MatrixRef right, const Control& control);

/// inverse := M^-1, both triangles, for M = R'R given its lower factor R' (n, n), which may be the same matrix. Cost 2
/// n^3 / 3 flops, a third of what solve_factored() takes for it.
void inverse_of_factored(const ConstMatrixRef& factor, MatrixRef inverse, const Control& control);

/// Diagonal of M^-1 for M = R'R given its lower factor R' (n, n): the squared lengths of the columns of R'^-1. Cost
/// n^3 / 3 flops, in float32 at about twice the rate.
[[nodiscard]] Vector inverse_diagonal(const ConstMatrixRef& factor, const Control& control,
                                      Precision precision = Precision::float64);

/// Estimated extreme eigenvalues of M = R'R by a few power and inverse power iterations from a fixed start: the largest
/// from below, the smallest from above, so that their ratio never overstates the condition number. Cost about 8 n^2
/// flops a step.
struct SpectrumEstimate {
  double largest;
  double smallest;
  [[nodiscard]] double reciprocal_condition() const { return largest > 0 ? smallest / largest : 0.0; }

  /// Whether a factor of gamma I + (something) still carries the answer.
  [[nodiscard]] bool resolves(double gamma) const { return gamma >= 1000 * kEpsilon * largest && smallest > 0; }
};
[[nodiscard]] SpectrumEstimate estimate_spectrum(const ConstMatrixRef& factor, const Control& control);

}  // namespace gegenbauer
