#pragma once
/// The normal equations from Chebyshev moments. The product of two tensor Chebyshev polynomials is a short sum of such
/// (T_a T_b = (T_{a+b} + T_{|a-b|}) / 2 in each input), so G'G holds far fewer distinct sums than (L, L): the moments
/// mu_k = sum_s w_s T_k(x_s) over the sums k of two multi-indices of the basis. They are a matrix product of two small
/// tables, one for each half of the inputs: cost 2 S M flops for M moments instead of S L^2.
///
/// With targets, the sums of w_s y_s T_k(x_s) over the multi-indices of the basis itself come along.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "gegenbauer/chebyshev_form.hpp"
#include "gegenbauer/design.hpp"
#include "gegenbauer/halves.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/staircase.hpp"
#include "gegenbauer/tensor_basis.hpp"
#include "gegenbauer/term_grid.hpp"

namespace gegenbauer {

/// The halves of a basis, kept with it as basis.plan<BasisHalves>().
struct BasisHalves : Halves {
  explicit BasisHalves(const TensorBasis& basis) : Halves(split_in_halves(basis.indices())) {}

  /// Work of a plan for the products of two left parts and of two right parts: entries of multi-indices that it looks
  /// at.
  [[nodiscard]] double plan_work() const {
    const auto work = [](const Half& half) {
      const auto n = static_cast<double>(half.size());
      return n * n * static_cast<double>(4 + half.parts.front().size());
    };
    return work(left) + work(right);
  }
};

/// What two parts of one half multiply to: the mean of T over some sums and differences.
struct MomentHalf {
  explicit MomentHalf(const Half& half);

  Index n_parts;
  std::vector<Exponents> sums;             ///< downward closed, graded; the first is the constant
  std::vector<std::int32_t> part_sum;      ///< of each part, its position among the sums
  std::vector<std::int32_t> part_of_term;  ///< of each term of the basis
  std::vector<std::int32_t> pair_start;    ///< the product of parts a, b is the mean of T over the sums
  std::vector<std::int32_t> pair_sum;      ///< pair_sum[pair_start[a n + b] .. pair_start[a n + b + 1])

  [[nodiscard]] Index n_sums() const { return static_cast<Index>(sums.size()); }
};

/// Whether a statistic holds Y'Y, which costs K^2 a sample. No solution needs it.
enum class TargetProducts { left_out, included };

/// Where the moments of a basis lie, and how they make up its Gram matrix. Kept with a basis as
/// basis.plan<MomentPlan>().
///
/// The moments form a staircase: its rows are the sums of the left half and then, for each target, the parts of the
/// left half; each row holds a prefix of the sums of the right half.
class MomentPlan {
 public:
  /// Most work of a plan (BasisHalves::plan_work): half a second, and some 100 MB.
  static constexpr double kMostWork = 2e7;

  /// Whether a basis has a plan, of bearable size. None has where inputs have levels (see require_polynomials). The one
  /// place that decides. Cost O(L).
  [[nodiscard]] static bool exists(const TensorBasis& basis) {
    return !basis.functions().have_levels() && basis.plan<BasisHalves>().plan_work() <= kMostWork;
  }

  /// Throws std::invalid_argument when there is no plan, or one that would be too large.
  explicit MomentPlan(const TensorBasis& basis);
  MomentPlan(const MomentPlan&) = delete;
  MomentPlan& operator=(const MomentPlan&) = delete;

  /// Numbers in the statistic: the moments, those with the targets, then Y'Y. Statistics of disjoint samples add.
  [[nodiscard]] Index size(Index n_targets, TargetProducts products = TargetProducts::included) const {
    const Index squares = products == TargetProducts::included ? n_targets : 0;
    return n_moments_ + n_targets * (n_target_moments_ + squares);
  }

  /// Cost of accumulate() in multiply-adds at peak.
  [[nodiscard]] double sums_cost(double n_samples, double n_targets) const;

  /// ChebyshevForm::squared_bounds(). An entry of G'G from moments is off by a small multiple of eps times
  /// the sum of the weights times these sums of its two terms, so the whole matrix by eps times that weight times this.
  [[nodiscard]] double squared_bounds() const { return form_.squared_bounds(); }

  /// statistic[0 .. size(K, products)) += that of the samples. Cost 2 size(K, products) flops a sample and as much
  /// again for every input and degree of the tables; or, for few inputs within [-1, 1], what AngleGrid::accumulate()
  /// costs, if that is less.
  void accumulate(const Design& design, double* statistic, const Control& control,
                  TargetProducts products = TargetProducts::included) const;

  /// Statistic of the samples scale_t x_t + shift_t, from that of the samples x_t; one map for each input. Maps of
  /// [-1, 1] into itself lose nothing (see Recurrence::substituted), so the box of the inputs may grow at any time.
  /// Cost size(K) times the degree for each input that changes.
  void substitute(double* statistic, Index n_targets, const std::vector<Substitution>& maps) const;

  /// Statistic of the targets y_k + shifts[k], from that of the targets y_k: a constant is a term, so that the sums
  /// with a target take shares of the moments. Cost size(K) - size(0) multiply-adds.
  void shift_targets(double* statistic, const std::vector<double>& shifts) const;

  /// gram := lower triangle of [G, Y]'[G, Y], shape (L + K, L + K); or, of a statistic without Y'Y, its first columns
  /// alone, shape (L + K, L). Cost about (L + K) L times the total degree, in flops.
  void assemble(const double* statistic, MatrixRef gram, const Control& control) const;

  /// Writes the quadratic form x -> g(x)'M g(x) in the features g as a polynomial: it is the sum of size(0)
  /// coefficients times the functions that the moments sum, so for one sample at x and any M it is the scalar product
  /// of both. Takes a symmetric M (L, L), which is overwritten. This is the adjoint of assemble(), and costs the same.
  void form_coefficients(MatrixRef form, double* coefficients, const Control& control) const;

  /// values(s, f) = form f at sample s, given the coefficients [f * size(0) .. (f + 1) * size(0)). With M = (gamma I +
  /// G'G)^-1 these are leverages, and variances of predictions. Cost 2 size(0) flops a sample and form, where g'M g
  /// costs 2 L^2.
  void evaluate_forms(const Samples& samples, const double* coefficients, StridedView<double> values,
                      const Control& control) const;

 private:
  // A term that has a given left part.
  struct Member {
    std::int32_t right_part;
    std::int32_t term;
  };

  MomentPlan(const TensorBasis& basis, const Halves& halves);

  void make_staircase();
  [[nodiscard]] std::vector<StaircaseRow> rows(Index n_targets) const;
  [[nodiscard]] std::int32_t sums_up_to(std::int32_t total) const {
    return up_to_[std::min(size_of(total), up_to_.size() - 1)];
  }
  void assemble_chebyshev(const double* statistic, MatrixRef gram, const Control& control) const;
  [[nodiscard]] double staircase_cost(double n_samples, double n_targets) const;
  // Of no use, and false, where a sample lies outside of [-1, 1].
  [[nodiscard]] bool accumulate_on_grid(const Design& design, double* statistic, const Control& control) const;

  Index n_terms_;
  const ChebyshevForm& form_;  // kept with the basis, as this is
  MomentHalf left_;
  MomentHalf right_;
  Index right_input_;
  TensorBasis left_basis_;  // Chebyshev polynomials of the sums
  TensorBasis right_basis_;
  std::vector<std::vector<Member>> members_;  // of each left part
  std::vector<std::int32_t> reach_;           // largest total degree on the right that goes with each left part
  std::vector<std::int32_t> up_to_;           // right sums of total degree <= d
  std::vector<std::int32_t> sum_need_;        // right sums that go with each left sum
  std::vector<std::int32_t> part_need_;       // right sums that go with each left part
  std::vector<Index> sum_start_;              // of the rows in the statistic
  std::vector<Index> part_start_;             // of the rows of one target, from that target's first on
  double padded_moments_ = 0.0;               // multiply-adds of the moments without targets
  Index n_moments_ = 0;
  Index n_target_moments_ = 0;
  std::optional<GridOfFew> few_;  // whose waves are the sums
};

}  // namespace gegenbauer
