#include <algorithm>
#include <array>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/moments.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

// Y'Y is added to the result, (K, K), a tile of it at a time, whose sums stay in the first-level cache while samples
// pass; each sum takes its samples in their order.
void add_target_products(const Design& design, double* result, const Control& control) {
  constexpr Index tile = 48;
  const Index n_targets = design.targets.cols;
  const Index n_samples = design.samples.rows();
  std::array<double, static_cast<std::size_t>(tile)> left{};
  std::array<double, static_cast<std::size_t>(tile)> right{};
  std::array<double, static_cast<std::size_t>(tile * tile)> sums{};
  const auto take = [&](Index s, Index first, Index count, double* out) {
    for (Index k = 0; k < count; ++k) out[k] = design.targets(s, first + k);
  };
  for (Index row = 0; row < n_targets; row += tile) {
    const Index n_rows = std::min(tile, n_targets - row);
    for (Index col = 0; col <= row; col += tile) {
      control.check();
      const Index n_cols = std::min(tile, n_targets - col);
      sums.fill(0.0);
      for (Index s = 0; s < n_samples; ++s) {
        take(s, row, n_rows, left.data());
        take(s, col, n_cols, right.data());
        for (Index i = 0; i < n_rows; ++i) {
          double* const own = sums.data() + i * tile;
          const double y = left[size_of(i)];
          for (Index j = 0; j < n_cols; ++j) own[j] += y * right[size_of(j)];
        }
      }
      for (Index i = 0; i < n_rows; ++i) {
        for (Index j = 0; j < n_cols; ++j) {
          const double sum = sums[size_of(i * tile + j)];
          result[(row + i) * n_targets + col + j] += sum;
          if (col < row) result[(col + j) * n_targets + row + i] += sum;
        }
      }
    }
  }
}

// The squared scale of a sample, then its targets times the scale.
SampleFactors factors_of(const Design& design) {
  return [&design](Index first, Index count, double* out, Index stride) {
    const auto scale = [&](Index s) { return design.row_scale == nullptr ? 1.0 : design.row_scale[s]; };
    for (Index s = 0; s < count; ++s) out[s] = scale(first + s) * scale(first + s);
    for (Index k = 0; k < design.targets.cols; ++k)
      for (Index s = 0; s < count; ++s) out[(k + 1) * stride + s] = scale(first + s) * design.targets(first + s, k);
  };
}

}  // namespace

void MomentPlan::accumulate(const Design& design, double* statistic, const Control& control,
                            TargetProducts products) const {
  const Samples& samples = design.samples;
  const Index n_targets = design.targets.cols;
  require(samples.cols() == design.basis.n_inputs() && design.basis.n_terms() == n_terms_,
          "the design does not fit the plan of the moments");
  require(n_targets == 0 || design.targets.rows == samples.rows(), "Y must have ", samples.rows(), " rows, got ",
          design.targets.rows);
  if (!accumulate_on_grid(design, statistic, control))
    Staircase(left_basis_, right_basis_, right_input_, rows(n_targets))
        .accumulate(samples, n_targets + 1, factors_of(design), statistic, control);
  if (products == TargetProducts::left_out) return;
  add_target_products(design, statistic + size(n_targets, TargetProducts::left_out), control);
}

bool MomentPlan::accumulate_on_grid(const Design& design, double* statistic, const Control& control) const {
  const Samples& samples = design.samples;
  const Index n_targets = design.targets.cols;
  const auto n_samples = static_cast<double>(samples.rows());
  const auto k = static_cast<double>(n_targets);
  if (!few_ || !may_be_inside(samples) || few_->sums_cost(n_samples, 1.0 + k) >= staircase_cost(n_samples, k))
    return false;
  const AngleGrid& grid = few_->grid();
  Matrix sums(grid.n_waves(), n_targets + 1);
  if (!grid.accumulate(samples, n_targets + 1, factors_of(design), sums.data(), control)) return false;
  const auto waves = [&](const MomentHalf& half, Index first_input) {
    std::vector<Index> found;
    for (const Exponents& sum : half.sums) found.push_back(grid.wave_of(sum, first_input));
    return found;
  };
  const std::vector<Index> left = waves(left_, 0);
  const std::vector<Index> right = waves(right_, right_input_);
  for (const StaircaseRow& row : rows(n_targets)) {
    const double* of_left = sums.col(row.factor).data() + left[size_of(row.function)];
    for (Index j = 0; j < row.need; ++j) *statistic++ += of_left[right[size_of(j)]];
  }
  return true;
}

}  // namespace gegenbauer
