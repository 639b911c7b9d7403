#include <algorithm>
#include <utility>
#include <vector>

#include "gegenbauer/cost_units.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/moments.hpp"
#include "gegenbauer/packet.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

void transpose(MatrixRef matrix, Index n, const Control& control) {
  constexpr Index side = 32;  // of a tile, transposed together with its mirror image
  parallel_for(control, divide_up(n, side), units::kMovedEntry * static_cast<double>(n) * static_cast<double>(n),
               [&](Index tile, int) {
                 const Index j_end = std::min(n, (tile + 1) * side);
                 for (Index begin = tile * side; begin < n; begin += side)
                   for (Index j = tile * side; j < j_end; ++j)
                     for (Index i = std::max(begin, j + 1); i < std::min(n, begin + side); ++i)
                       std::swap(matrix(i, j), matrix(j, i));
               });
}

}  // namespace

// gram := C (both triangles) and Y'T. For two left parts the moments of their sums are added up once, as functions of
// the right sum.
void MomentPlan::assemble_chebyshev(const double* statistic, MatrixRef gram, const Control& control) const {
  const Index n_targets = gram.rows() - n_terms_;
  const Index n_left = left_.n_parts;
  const Index n_right = right_.n_parts;
  std::vector<AlignedBuffer> scratch;
  for (int i = 0; i < control.n_threads(); ++i) scratch.push_back(make_aligned(size_of(right_.n_sums())));
  const double work = units::kAssembled * static_cast<double>(n_terms_) * static_cast<double>(n_terms_);
  parallel_for(control, n_left, work, [&](Index left_b, int member) {
    double* mean = scratch[size_of(member)].get();
    for (Index left_a = 0; left_a < n_left; ++left_a) {
      const Index pair = left_b * n_left + left_a;
      const std::int32_t* begin = left_.pair_sum.data() + left_.pair_start[size_of(pair)];
      const std::int32_t* end = left_.pair_sum.data() + left_.pair_start[size_of(pair) + 1];
      const Index need = sums_up_to(reach_[size_of(left_a)] + reach_[size_of(left_b)]);
      const double share = 1.0 / static_cast<double>(end - begin);
      std::copy_n(statistic + sum_start_[size_of(*begin)], need, mean);
      for (const std::int32_t* i = begin + 1; i < end; ++i) {
        const double* row = statistic + sum_start_[size_of(*i)];
        for (Index j = 0; j < need; ++j) mean[j] += row[j];
      }
      for (const Member& b : members_[size_of(left_b)]) {
        double* column = gram.data() + Index{b.term} * gram.outerStride();
        const std::int32_t* start = right_.pair_start.data() + Index{b.right_part} * n_right;
        for (const Member& a : members_[size_of(left_a)]) {
          const std::int32_t* from = right_.pair_sum.data() + start[a.right_part];
          const std::int32_t* to = right_.pair_sum.data() + start[a.right_part + 1];
          double sum = 0.0;
          for (const std::int32_t* j = from; j < to; ++j) sum += mean[*j];
          column[a.term] = sum * (share / static_cast<double>(to - from));
        }
      }
    }
    for (const Member& b : members_[size_of(left_b)])
      for (Index k = 0; k < n_targets; ++k)
        gram(n_terms_ + k, b.term) = statistic[n_moments_ + k * n_target_moments_ + part_start_[size_of(left_b)] +
                                               right_.part_sum[size_of(b.right_part)]];
  });
}

void MomentPlan::assemble(const double* statistic, MatrixRef gram, const Control& control) const {
  const Index n_targets = gram.rows() - n_terms_;
  require(n_targets >= 0 && (gram.cols() == gram.rows() || gram.cols() == n_terms_),
          "gram must be square with at least ", n_terms_, " rows, or have ", n_terms_, " columns");
  // [C; Y'T] B', then (C B')' B' = B C B'
  assemble_chebyshev(statistic, gram, control);
  form_.to_terms(gram, gram.rows(), control);
  transpose(gram, n_terms_, control);
  form_.to_terms(gram, n_terms_, control);
  if (gram.cols() == n_terms_) return;
  const double* target_gram = statistic + n_moments_ + n_targets * n_target_moments_;
  for (Index k = 0; k < n_targets; ++k)
    for (Index j = 0; j < n_targets; ++j) gram(n_terms_ + k, n_terms_ + j) = target_gram[k * n_targets + j];
}

// What assemble_chebyshev() takes the mean of is given its share here.
void MomentPlan::form_coefficients(MatrixRef form, double* coefficients, const Control& control) const {
  require(form.rows() == n_terms_ && form.cols() == n_terms_, "form must have shape (", n_terms_, ", ", n_terms_, ")");
  // B'M, then B'M B
  form_.to_chebyshev(form, n_terms_, control);
  transpose(form, n_terms_, control);
  form_.to_chebyshev(form, n_terms_, control);
  // A fixed number of partial sums, whatever the number of threads
  constexpr Index n_parts = 8;
  const Index n_left = left_.n_parts;
  const Index n_right = right_.n_parts;
  Matrix parts = zeros(n_moments_, n_parts, control);
  const double work = units::kAssembled * static_cast<double>(n_terms_) * static_cast<double>(n_terms_);
  parallel_for(control, n_parts, work, [&](Index part, int) {
    std::vector<double> sums(size_of(right_.n_sums()));
    for (Index left_b = part; left_b < n_left; left_b += n_parts) {
      for (Index left_a = 0; left_a < n_left; ++left_a) {
        const Index pair = left_b * n_left + left_a;
        const std::int32_t* begin = left_.pair_sum.data() + left_.pair_start[size_of(pair)];
        const std::int32_t* end = left_.pair_sum.data() + left_.pair_start[size_of(pair) + 1];
        const Index need = sums_up_to(reach_[size_of(left_a)] + reach_[size_of(left_b)]);
        const double share = 1.0 / static_cast<double>(end - begin);
        std::fill_n(sums.begin(), need, 0.0);
        for (const Member& b : members_[size_of(left_b)]) {
          const double* column = form.data() + Index{b.term} * form.outerStride();
          const std::int32_t* start = right_.pair_start.data() + Index{b.right_part} * n_right;
          for (const Member& a : members_[size_of(left_a)]) {
            const std::int32_t* from = right_.pair_sum.data() + start[a.right_part];
            const std::int32_t* to = right_.pair_sum.data() + start[a.right_part + 1];
            const double value = column[a.term] * (share / static_cast<double>(to - from));
            for (const std::int32_t* j = from; j < to; ++j) sums[size_of(*j)] += value;
          }
        }
        for (const std::int32_t* i = begin; i < end; ++i) {
          double* row = parts.data() + part * n_moments_ + sum_start_[size_of(*i)];
          for (Index j = 0; j < need; ++j) row[j] += sums[size_of(j)];
        }
      }
    }
  });
  std::copy_n(parts.data(), n_moments_, coefficients);
  for (Index part = 1; part < n_parts; ++part)
    for (Index i = 0; i < n_moments_; ++i) coefficients[i] += parts(i, part);
}

void MomentPlan::evaluate_forms(const Samples& samples, const double* coefficients, StridedView<double> values,
                                const Control& control) const {
  Staircase(left_basis_, right_basis_, right_input_, rows(0)).evaluate(samples, coefficients, values, control);
}

}  // namespace gegenbauer
