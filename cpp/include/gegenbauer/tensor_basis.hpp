#pragma once
/// Tensor products of univariate polynomials: an index set together with one recurrence. Evaluates blocks of terms;
/// knows no targets and no weights. The paper's Gegenbauer elementary functions G_l(x) (eq.network-basis).
///
/// Values are computed for a block of samples at once: first a table of univariate values, one row a factor (input t,
/// degree n >= 1), then each term as parent term times one table row (one multiplication a term and sample).

#include <cstdint>
#include <vector>

#include "gegenbauer/multi_index.hpp"
#include "gegenbauer/packet.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/polynomial.hpp"
#include "gegenbauer/samples.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

class TensorBasis {
 public:
  /// Throws std::invalid_argument when a product of univariate values may leave the range in which squares are finite.
  TensorBasis(const IndexSetSpec& spec, double lam, Normalization normalization,
              const std::optional<PowerSpectrum>& spectrum = std::nullopt, const Control& control = Control());

  TensorBasis(MultiIndexSet indices, double lam, Normalization normalization,
              const std::optional<PowerSpectrum>& spectrum = std::nullopt);

  [[nodiscard]] Index n_inputs() const { return indices_.n_inputs(); }
  [[nodiscard]] Index n_terms() const { return indices_.size(); }
  [[nodiscard]] const MultiIndexSet& indices() const { return indices_; }
  [[nodiscard]] const Recurrence& recurrence() const { return recurrence_; }
  [[nodiscard]] double lam() const { return lam_; }

  /// Rows of the univariate table.
  [[nodiscard]] Index n_factors() const { return n_factors_; }
  [[nodiscard]] const std::int32_t* parents() const { return parents_.data(); }
  [[nodiscard]] const std::int32_t* factors() const { return factors_.data(); }

  /// table[f * stride + s] for s = 0..count-1 from inputs x[t * stride + s]. Cost 3 flops an entry.
  void tabulate(const double* x, Index count, Index stride, double* table) const;

  /// Values of all terms for kPacket samples: terms[l * kPacket + i], from table columns table[f * stride + i]. One
  /// multiplication a value. `terms` is aligned.
  void evaluate_packet(const double* table, Index stride, double* terms) const;

  /// Values of the terms [first, last) for kPanel samples: out[(l - first) * kPanel + i], from table columns as above.
  /// Needs no other terms: each is the product of its univariate factors. `out` is aligned.
  void evaluate_range(const double* table, Index stride, Index first, Index last, double* out) const;

 private:
  MultiIndexSet indices_;
  Recurrence recurrence_;
  double lam_;
  Index n_factors_ = 0;
  std::vector<Index> factor_start_;    // row of (t, 1)
  std::vector<std::int32_t> parents_;  // of term l
  std::vector<std::int32_t> factors_;  // table row of term l; -1 for the constant
};

/// out(s, l) = term l at sample s, for a caller who wants the whole matrix G (paper: eqn.activatematrix_SOGNN).
template <class Scalar>
void evaluate_terms(const TensorBasis& basis, const Samples& samples, StridedView<Scalar> out, const Control& control);

}  // namespace gegenbauer
