#pragma once
/// K(x, z) = sum of g_k(x) g_k(z) over all multi-indices of total degree <= d, by a truncated product: with
/// e_n = g_n(x_t) g_n(z_t), the polynomial p = 1 in a degree counter is multiplied by 1 + e_1 u + ... + e_d u^d for
/// each input t, and what exceeds u^d is dropped. Cost about m d^2 / 2 multiply-adds a pair instead of C(m + d, d).

#include <optional>

#include "gegenbauer/design.hpp"
#include "gegenbauer/input_functions.hpp"
#include "gegenbauer/kernel.hpp"

namespace gegenbauer {

class TotalDegreeKernel final : public ProductKernel {
 public:
  /// The inputs have at least `degree` functions each (of any normalization and weights). With max_inputs, at most so
  /// many inputs occur together in a term; the cost is that many times larger, unless it allows all.
  TotalDegreeKernel(Index n_inputs, Index degree, InputFunctions functions,
                    std::optional<Index> max_inputs = std::nullopt);

  [[nodiscard]] Index n_inputs() const override { return n_inputs_; }
  [[nodiscard]] Index table_size() const override { return n_inputs_ * degree_; }
  [[nodiscard]] Index scratch_size() const override;
  [[nodiscard]] double pair_cost() const override;
  void tabulate(const double* x, Index first_row, double* table) const override;
  void evaluate(const double* left, const double* right, Index n_columns, double* values,
                double* scratch) const override;

 private:
  void evaluate_any(const double* left, const double* right, Index n_columns, double* values, double* scratch) const;

  Index n_inputs_;
  Index degree_;
  InputFunctions functions_;
  Index levels_;  // most inputs in a term, or 0 when there is no limit
};

/// The largest d such that the first terms of a set are all those of total degree <= d, and their number. Kept with a
/// basis as basis.plan<CompletePart>(). Cost O(L).
struct CompletePart {
  explicit CompletePart(const MultiIndexSet& indices);
  explicit CompletePart(const TensorBasis& basis) : CompletePart(basis.indices()) {}

  Index degree = 0;
  Index n_terms = 1;
};

/// As accumulate_kernel, with first_term 0 or 1: the terms of the complete part by the truncated product, the others
/// by their features. For every basis; it pays for sets that are complete, or nearly so.
void accumulate_total_degree_kernel(const Design& design, Index first_term, MatrixRef kernel, const Control& control);

}  // namespace gegenbauer
