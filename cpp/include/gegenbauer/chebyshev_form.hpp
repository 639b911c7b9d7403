#pragma once
/// The terms of a basis as sums of products of Chebyshev polynomials, g = B T over the same index set, which is
/// downward closed. B is never formed: one input after the other, a column takes shares of those with a lower degree of
/// the same parity in that input.

#include <cstdint>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/tensor_basis.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// Throws std::invalid_argument for a basis whose inputs have levels: contrasts are no polynomials, and products of
/// them no sums of few, so that there are no moments.
void require_polynomials(const TensorBasis& basis);

/// What to do instead.
inline constexpr Advice kFeaturesInstead{Way{"sum the features instead (GramStatistics, `engine='primal'`)"}};

/// Kept with a basis as basis.plan<ChebyshevForm>(). For polynomials alone (no levels).
class ChebyshevForm {
 public:
  /// Cost O(L) times half of the degree.
  explicit ChebyshevForm(const TensorBasis& basis);

  /// Rows of sums of T, such as Y'T, become those of sums of g: the first n_rows of a matrix of L columns := matrix B'.
  /// Cost L times half of the degree multiply-adds a row.
  void to_terms(MatrixRef matrix, Index n_rows, const Control& control) const {
    change<false>(matrix, n_rows, control);
  }

  /// Rows of coefficients of g become those of T: matrix := matrix B. The adjoint, at the same cost.
  void to_chebyshev(MatrixRef matrix, Index n_rows, const Control& control) const {
    change<true>(matrix, n_rows, control);
  }

  /// Sum over the terms of the squared sums of the absolute values of their Chebyshev coefficients (for lam >= 0 these
  /// are the values at the corner of the domain).
  [[nodiscard]] double squared_bounds() const { return squared_bounds_; }

 private:
  // A factor of degree >= 2 of a term: the terms with a lower degree of the same parity in that input.
  struct Factor {
    std::int32_t term;
    std::int32_t degree;
    Index below;  // into below_: the terms with degree - 2, degree - 4, ... in this input
  };

  template <bool adjoint>
  void change(MatrixRef matrix, Index n_rows, const Control& control) const;

  Index n_terms_;
  double squared_bounds_ = 0.0;
  Matrix connection_;                         // g_n is a multiple of the sum over j of connection_(n, j) T_j
  std::vector<double> scale_;                 // of each term: product of these multiples over its factors
  std::vector<std::vector<Factor>> factors_;  // for each input, from the last term to the first
  std::vector<std::int32_t> below_;
};

}  // namespace gegenbauer
