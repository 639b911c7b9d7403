#pragma once
/// Blocked Cholesky factorisation on the tiles, and the solves with its factor. Knows no basis.

#include "gegenbauer/parallel.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// Overwrites the lower triangle of a symmetric positive definite matrix (n, n) by its Cholesky factor R' (lower), the
/// strict upper part is neither read nor kept. Throws NotPositiveDefinite. Cost n^3 / 3 flops.
void cholesky_in_place(MatrixRef matrix, const Control& control);

/// B := R'^-1 B for a lower factor (n, n) and B (n, K). Cost n^2 K flops.
void solve_lower(const ConstMatrixRef& factor, MatrixRef right);

/// B := R^-1 B, the transposed factor. Cost n^2 K flops.
void solve_lower_transposed(const ConstMatrixRef& factor, MatrixRef right);

/// B := M^-1 B for M = R'R given its lower factor. Cost 2 n^2 K flops.
inline void solve_factored(const ConstMatrixRef& factor, MatrixRef right) {
  solve_lower(factor, right);
  solve_lower_transposed(factor, right);
}

/// Estimated extreme eigenvalues of M = R'R by a few power and inverse power iterations from a fixed start: the largest from
/// below, the smallest from above, so that their ratio never overstates the condition number. Cost about 8 n^2 flops a step.
struct SpectrumEstimate {
  double largest;
  double smallest;
  [[nodiscard]] double reciprocal_condition() const { return largest > 0 ? smallest / largest : 0.0; }
};
[[nodiscard]] SpectrumEstimate estimate_spectrum(const ConstMatrixRef& factor);

}  // namespace gegenbauer
