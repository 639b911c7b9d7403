#pragma once
/// Tensor products of univariate functions: an index set and the functions of its inputs, polynomials and contrasts of
/// levels (see input_functions.hpp). Evaluates blocks of terms; knows no targets and no weights. The paper's Gegenbauer
/// elementary functions G_l(x) (eq.network-basis).
///
/// Values are computed for a block of samples at once: first a table of univariate values, one row a factor (input t,
/// degree n >= 1), then each term as parent term times one table row (one multiplication a term and sample).

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <typeindex>
#include <vector>

#include "gegenbauer/input_functions.hpp"
#include "gegenbauer/multi_index.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/samples.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

class TensorBasis {
 public:
  /// A spectrum gives weights to the terms, and levels to the inputs. Throws std::invalid_argument when a product of
  /// univariate values may leave the range in which squares are finite.
  TensorBasis(const IndexSetSpec& spec, double lam, Normalization normalization,
              const std::optional<Spectrum>& spectrum = std::nullopt, const Control& control = Control());

  TensorBasis(MultiIndexSet indices, double lam, Normalization normalization,
              const std::optional<Spectrum>& spectrum = std::nullopt);

  [[nodiscard]] Index n_inputs() const { return indices_.n_inputs(); }
  [[nodiscard]] Index n_terms() const { return indices_.size(); }
  [[nodiscard]] const MultiIndexSet& indices() const { return indices_; }
  [[nodiscard]] const InputFunctions& functions() const { return functions_; }
  [[nodiscard]] double lam() const { return lam_; }

  /// Rows of the univariate table.
  [[nodiscard]] Index n_factors() const { return n_factors_; }
  [[nodiscard]] const std::int32_t* parents() const { return parents_.data(); }
  [[nodiscard]] const std::int32_t* factors() const { return factors_.data(); }

  /// table[f * stride + s] for s = 0..count-1 from inputs x[t * stride + s]. The one place of univariate
  /// values in float64. Cost 3 flops an entry.
  void tabulate(const double* x, Index count, Index stride, double* table) const;

  /// Values of all terms for a register of samples: terms[l * kPacketOf<T> + i], from table columns
  /// table[f * stride + i]. One multiplication a value. `terms` is aligned.
  template <class T>
  void evaluate_packet(const T* table, Index stride, T* terms) const;

  /// Values of the terms [first, last) for a panel of samples, the last first: out[(last - 1 - l) * kPanelOf<T> + i],
  /// from table columns as above. Terms mostly fall with their degree, and sums over them are most accurate from the
  /// small end. Needs no earlier terms: where the parent is not among them, a term is the product of its univariate
  /// factors. `out` is aligned.
  template <class T>
  void evaluate_range(const T* table, Index stride, Index first, Index last, T* out) const;

  /// Whether the terms, and the products of two of them, lie well inside of the range of float32 on the domain.
  [[nodiscard]] bool fits_float32() const { return fits_float32_; }

  /// Plan(*this), made at the first call and kept with the basis and its copies: what other layers need to
  /// work out once. A plan may not refer to the basis.
  template <class Plan>
  [[nodiscard]] const Plan& plan() const {
    const std::scoped_lock lock(plans_->mutex);  // a plan may need another one
    std::shared_ptr<const void>& kept = plans_->made[typeid(Plan)];
    if (!kept) kept = std::make_shared<const Plan>(*this);
    return *static_cast<const Plan*>(kept.get());
  }

 private:
  struct Plans {
    std::recursive_mutex mutex;
    std::map<std::type_index, std::shared_ptr<const void>> made;
  };

  void number_factors();

  MultiIndexSet indices_;
  InputFunctions functions_;
  double lam_;
  std::shared_ptr<Plans> plans_ = std::make_shared<Plans>();
  bool fits_float32_ = true;
  Index n_factors_ = 0;
  std::vector<Index> factor_start_;    // row of (t, 1)
  std::vector<std::int32_t> parents_;  // of term l
  std::vector<std::int32_t> factors_;  // table row of term l; -1 for the constant
};

/// out(s, l) = term l at sample s, for a caller who wants the whole matrix G (paper: eqn.activatematrix_SOGNN).
template <class Scalar>
void evaluate_terms(const TensorBasis& basis, const Samples& samples, StridedView<Scalar> out, const Control& control);

}  // namespace gegenbauer
