#pragma once
/// Sums over samples of the products of two small tables, cut to a staircase: the one kernel behind the moments and the
/// products G'R by halves of the inputs.
///
/// Row i of the staircase is a function of the left inputs times one of some factors (a weight, a target); its columns
/// are the first need(i) functions of the right inputs:
///     sums(i, j) = sum_s factor_i(s) left_i(x_s) right_j(x_s),   j < need(i).

#include <cstdint>
#include <vector>

#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tensor_basis.hpp"

namespace gegenbauer {

struct StaircaseRow {
  std::int32_t function;  ///< term of the left basis
  std::int32_t factor;
  std::int32_t need;  ///< columns
};

/// Layout of one staircase; refers to the two bases, which must outlive it.
class Staircase {
 public:
  /// The left basis takes the columns of the samples from 0 on, the right one those from right_input on.
  Staircase(const TensorBasis& left, const TensorBasis& right, Index right_input, std::vector<StaircaseRow> rows);

  /// Entries, row after row: entry (i, j) is number row_start(i) + j.
  [[nodiscard]] Index size() const { return row_start_.back(); }
  [[nodiscard]] Index row_start(Index i) const { return row_start_[size_of(i)]; }

  /// sums[row_start(i) + j] += the sum over all samples. Cost 2 size() flops a sample, a little more for the border of
  /// the staircase, and a few flops for each function of both bases and each row.
  void accumulate(const Samples& samples, Index n_factors, const SampleFactors& factors, double* sums,
                  const Control& control) const;

  /// The functions themselves, without factors: values(s, f) = sum over i and j < need(i) of
  /// coefficients[f * size() + row_start(i) + j] left_i(x_s) right_j(x_s). Cost as for accumulate, for each f.
  void evaluate(const Samples& samples, const double* coefficients, StridedView<double> values,
                const Control& control) const;

  /// Multiply-adds a sample that accumulate spends, border included: what a cost model needs.
  [[nodiscard]] double padded_size() const { return static_cast<double>(group_start_.back()); }

 private:
  struct Scratch;
  void make_scratch(const Samples& samples, Index n_factors, Scratch& scratch) const;
  void pack(const Samples& samples, Index first, Index count, Index n_factors, const SampleFactors& factors,
            const Scratch& scratch) const;
  void multiply(const Scratch& scratch, double* sums) const;

  const TensorBasis& left_;
  const TensorBasis& right_;
  Index right_input_;
  std::vector<StaircaseRow> rows_;
  std::vector<Index> row_start_;
  std::vector<std::int32_t> order_;  // rows by falling need, as they are packed
  // Sums are kept by groups of kColumns columns; group g holds the first group_rows_[g] packed rows (a multiple of a
  // packet), panel after panel of kPanel rows, each column by column.
  std::vector<Index> group_rows_;
  std::vector<Index> group_start_;
};

}  // namespace gegenbauer
