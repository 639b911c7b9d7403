#pragma once
/// The normal equations from Chebyshev moments. The product of two tensor Chebyshev polynomials is a short sum of such
/// (T_a T_b = (T_{a+b} + T_{|a-b|}) / 2 in each input), so G'G holds far fewer distinct sums than (L, L): the moments
/// mu_k = sum_s w_s T_k(x_s) over the sums k of two multi-indices of the basis. They are a matrix product of two small
/// tables, one for each half of the inputs: cost 2 S M flops for M moments instead of S L^2.
///
/// With targets, the sums of w_s y_s T_k(x_s) over the multi-indices of the basis itself come along.

#include <cstdint>
#include <vector>

#include "gegenbauer/normal_equations.hpp"
#include "gegenbauer/tensor_basis.hpp"

namespace gegenbauer {

using Exponents = std::vector<std::int32_t>;

/// One half of the inputs: what the terms of the basis are there, and the sums of two such parts.
struct MomentHalf {
  Index first_input;
  std::vector<Exponents> sums;             ///< downward closed, graded; the first is the constant
  std::vector<std::int32_t> part_sum;      ///< of each distinct part, its position among the sums
  std::vector<std::int32_t> part_of_term;  ///< of each term of the basis
  std::vector<std::int32_t> pair_start;    ///< the product of parts a, b is the mean of T over the sums
  std::vector<std::int32_t> pair_sum;      ///< pair_sum[pair_start[a n + b] .. pair_start[a n + b + 1])

  [[nodiscard]] Index n_parts() const { return static_cast<Index>(part_sum.size()); }
  [[nodiscard]] Index n_sums() const { return static_cast<Index>(sums.size()); }
};

/// Where the moments of a basis lie, and how they make up its Gram matrix. Immutable.
///
/// The moments form a staircase. Its rows are the sums of the left half and then, for each target, the parts of the
/// left half; row i holds the first need(i) sums of the right half.
class MomentPlan {
 public:
  MomentPlan(const TensorBasis& basis, Index n_targets);

  [[nodiscard]] Index n_targets() const { return n_targets_; }

  /// Numbers in the statistic: the moments, then Y'Y. Statistics of disjoint samples add.
  [[nodiscard]] Index size() const { return row_start_.back() + n_targets_ * n_targets_; }

  /// statistic[0 .. size()) += that of the samples. Cost 2 size() flops a sample and as much again for every input and
  /// degree of the tables.
  void accumulate(const Design& design, double* statistic, const Control& control) const;

  /// gram := lower triangle of [G, Y]'[G, Y], shape (L + K, L + K). Cost about L^2 times the total degree, in flops.
  void assemble(const double* statistic, MatrixRef gram, const Control& control) const;

 private:
  // A factor of degree >= 2 of a term: the terms with a lower degree of the same parity in that input.
  struct Factor {
    std::int32_t term;
    std::int32_t degree;
    Index below;  // into below_: the terms with degree - 2, degree - 4, ... in this input
  };

  void make_staircase();
  void make_connection(const TensorBasis& basis);
  void change_basis(MatrixRef matrix, Index n_rows, const Control& control) const;

  Index n_terms_;
  Index n_targets_;
  MomentHalf left_;
  MomentHalf right_;
  TensorBasis left_basis_;  // Chebyshev polynomials of the sums
  TensorBasis right_basis_;
  std::vector<std::int32_t> need_;  // right sums of each row
  std::vector<Index> row_start_;
  Matrix connection_;                         // g_n = sum over j of connection_(n, j) T_j
  std::vector<double> scale_;                 // of each term: product of connection_(n, n) over its factors
  std::vector<std::vector<Factor>> factors_;  // for each input, from the last term to the first
  std::vector<std::int32_t> below_;
};

}  // namespace gegenbauer
