#pragma once
/// A symmetric matrix for many shifts: K = Q B Q' with Q orthogonal and B a band, after which (K + gamma I)^-1 y, the
/// diagonal of that inverse and the determinant cost n^2 for any gamma. Knows no basis.

#include <vector>

#include "gegenbauer/panels.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// Answers for each gamma; where a vector was left out, all are those of K on its complement.
struct ShiftedSolutions {
  Matrix solutions;         ///< (n, n_gammas n_outputs): columns of (K + gamma I)^-1 Y, those of a gamma together
  Matrix inverse_diagonal;  ///< (n, n_gammas), of (K + gamma I)^-1
  Matrix quadratic;         ///< (n_outputs, n_gammas), y'(K + gamma I)^-1 y
  Vector log_determinant;   ///< (n_gammas,), of K + gamma I
  Vector shift;             ///< (n_gammas,), what was added to gamma: not 0 where K + gamma I was not positive definite
};

/// The reduction and its orthogonal matrix. Bits do not depend on the number of threads.
class BandForm {
 public:
  /// Half of the bandwidth: entries (i, j) of B with |i - j| > kWidth are zero.
  static constexpr Index kWidth = 8;

  /// Reduces K (n, n), of which the lower triangle is read. Given v (n), or of size 0, it is K on the complement of v,
  /// of size n - 1: P K P' with the rows of P an orthonormal basis of the complement. Cost 8/3 n^3 flops, half for the
  /// band and half for Q; 12 n^2 bytes while it runs, 8 n^2 are kept.
  BandForm(const ConstMatrixRef& lower, const Vector& v, const Control& control);

  /// Solves for all gammas. With B + gamma I = L L' and z = L^-1 Q'e_i, row i of the solution is z'(L^-1 Q'y) and entry
  /// i of the diagonal of the inverse |z|^2: sums of n products, in which nothing cancels that is not in the result.
  /// Where a pivot is not positive, gamma lies below the rounding errors of K and is raised to them. Cost
  /// 2 (kWidth + 2 + n_outputs) n^2 flops a gamma.
  [[nodiscard]] ShiftedSolutions solve(const Vector& gammas, const ConstMatrixRef& right, const Control& control) const;

  /// Estimated extreme eigenvalues of K, from within the spectrum, by 16 power and inverse power iterations.
  [[nodiscard]] double largest() const { return largest_; }
  [[nodiscard]] double smallest() const { return smallest_; }

  /// B, column j of which holds B(j .. j + kWidth, j): the lower form of banded matrices. (kWidth + 1, size)
  [[nodiscard]] Matrix band() const;

  /// Q' (size, n), whose rows are orthogonal to a vector that was left out.
  [[nodiscard]] Matrix orthogonal() const;

 private:
  void estimate_extremes();
  [[nodiscard]] double rounding() const;  ///< of K, as a shift

  Index n_;                   // rows of K
  Index size_;                // of B
  std::vector<double> band_;  // row i: B(i, i - kWidth .. i), continued by a unit matrix to a multiple of kWidth rows
  PackedPanels rows_;         // of Q
  double largest_ = 0.0;
  double smallest_ = 0.0;
};

}  // namespace gegenbauer
