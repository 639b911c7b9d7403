#pragma once
/// Orthogonal factorisations for the cases in which normal equations lose too much: tiny penalties and gamma = 0.
/// Slower than Cholesky and accurate to the last digits that the data determine. Knows no basis.

#include <optional>
#include <vector>

#include "gegenbauer/parallel.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// A = Q R for A (n_rows, n), n_rows >= n, by Householder reflections in blocks of columns. Cost 2 n_rows n^2 flops.
class HouseholderQr {
 public:
  HouseholderQr(Matrix matrix, const Control& control);

  /// Upper triangle R (n, n); the strict lower part is zero.
  [[nodiscard]] Matrix upper() const;

  /// The same without a copy: what lies below the diagonal means nothing.
  [[nodiscard]] ConstMatrixRef triangle() const { return packed_.topRows(packed_.cols()); }

  /// X := Q X or Q'X for X (n_rows, K). Cost 4 n_rows n K flops.
  void apply(Matrix& x, const Control& control) const;
  void apply_transposed(Matrix& x, const Control& control) const;

 private:
  Matrix packed_;  // R and, below the diagonal, the reflections
  Vector scales_;
};

/// The shortest X that minimises |A X - B| (Moore-Penrose), by a complete orthogonal decomposition: QR with column
/// pivoting, cut where the remaining columns fall below `tolerance` times the first pivot, or times `size` (of what A
/// was computed from) where that is larger, and a second QR from the right. A (n, n), B (n, K); NaN where the norm of a
/// column of A is beyond float64. Cost about 4 n^3 / 3 to 8 n^3 / 3 flops.
struct MinimumNormSolution {
  Matrix solution;
  Index rank = 0;
  double smallest_pivot = 1.0;  ///< of those kept, relative to the first
  double first_pivot = 0.0;     ///< between the spectral norm of A and that over sqrt(n)

  /// X := (A'A)^+ X of the matrix that was kept, for X (n, K): what refinement solves with. Cost up to 8 n^2 K flops.
  void solve_normal(Matrix& x, const Control& control) const;

  Matrix upper;                        ///< R at full rank, else T of [R11 R12]' = Z T, (rank, rank)
  std::optional<HouseholderQr> right;  ///< Z T below full rank
  std::vector<Index> order;            ///< columns of A in the order of their pivots
};
[[nodiscard]] MinimumNormSolution minimum_norm_solution(Matrix a, Matrix b, double tolerance, const Control& control,
                                                        double size = 0.0);

/// B := R^-1 B and B := R'^-1 B for an upper triangle without zeros on its diagonal; columns of B are shared between
/// threads.
void solve_upper(const ConstMatrixRef& upper, MatrixRef right, const Control& control);
void solve_upper_transposed(const ConstMatrixRef& upper, MatrixRef right, const Control& control);

}  // namespace gegenbauer
