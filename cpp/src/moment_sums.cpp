#include <algorithm>
#include <array>
#include <utility>
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
Staircase::Factors factors_of(const Design& design) {
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
    for (const Exponents& sum : half.sums) {
      Index at = 0;
      for (std::size_t t = 0; t < sum.size(); ++t) at += grid.wave_stride(first_input + static_cast<Index>(t)) * sum[t];
      found.push_back(at);
    }
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

namespace {

// One function of a half that depends on an input: it takes shares of those with a lower degree there.
struct Receiver {
  std::int32_t function;
  std::int32_t degree;
  std::vector<std::int32_t> lower;  // by their degree, 0 .. degree - 1
};

// From the highest degree down, so that a function is changed before those that need it as it was.
std::vector<Receiver> receivers(const std::vector<Exponents>& functions, const Positions& position, std::size_t input) {
  std::vector<Receiver> found;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const std::int32_t degree = functions[i][input];
    if (degree == 0) continue;
    Exponents k = functions[i];
    Receiver receiver{static_cast<std::int32_t>(i), degree, {}};
    for (std::int32_t j = 0; j < degree; ++j) {
      k[input] = j;
      receiver.lower.push_back(position.at(k));
    }
    found.push_back(std::move(receiver));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Receiver& a, const Receiver& b) { return a.degree > b.degree; });
  return found;
}

// Functions of the left inputs: whole rows take shares of rows. The rows belong to one factor, so that each function
// has one at most, and the need of a row is no larger than that of the rows with lower degrees, since the sets are
// downward closed.
void substitute_rows(double* statistic, const std::vector<StaircaseRow>& rows, const std::vector<Receiver>& order,
                     const Matrix& coefficients) {
  std::vector<std::pair<double*, Index>> place;  // values of a function, and how many
  for (const StaircaseRow& row : rows) {
    if (place.size() <= size_of(row.function)) place.resize(size_of(row.function) + 1);
    place[size_of(row.function)] = {statistic, row.need};
    statistic += row.need;
  }
  for (const Receiver& receiver : order) {
    if (size_of(receiver.function) >= place.size()) continue;
    const auto [values, need] = place[size_of(receiver.function)];
    const std::int32_t n = receiver.degree;
    for (Index i = 0; i < need; ++i) values[i] *= coefficients(n, n);
    for (std::int32_t j = 0; need > 0 && j < n; ++j) {
      const double share = coefficients(n, j);
      const double* lower = place[size_of(receiver.lower[size_of(j)])].first;
      for (Index i = 0; i < need; ++i) values[i] += share * lower[i];
    }
  }
}

// Functions of the right inputs: entries of each row take shares of entries.
void substitute_columns(double* statistic, const std::vector<StaircaseRow>& rows, const std::vector<Receiver>& order,
                        const Matrix& coefficients) {
  for (const StaircaseRow& row : rows) {
    for (const Receiver& receiver : order) {
      if (receiver.function >= row.need) continue;
      const std::int32_t n = receiver.degree;
      double value = coefficients(n, n) * statistic[receiver.function];
      for (std::int32_t j = 0; j < n; ++j) value += coefficients(n, j) * statistic[receiver.lower[size_of(j)]];
      statistic[receiver.function] = value;
    }
    statistic += row.need;
  }
}

}  // namespace

void MomentPlan::substitute(double* statistic, Index n_targets, const std::vector<Substitution>& maps) const {
  const std::size_t n_left = left_.sums.front().size();
  const std::size_t n_right = right_.sums.front().size();
  require(n_targets >= 0, "the number of targets must not be negative, got ", n_targets);
  require(maps.size() == std::max(n_left, size_of(right_input_) + n_right),
          "there must be one map for each input, got ", maps.size());
  std::int32_t degree = 0;
  for (const std::vector<Exponents>* sums : {&left_.sums, &right_.sums})
    for (const Exponents& k : *sums) degree = std::max(degree, *std::max_element(k.begin(), k.end()));
  const Recurrence chebyshev(0.0, degree, Normalization::chebyshev);
  std::vector<std::vector<StaircaseRow>> rows_of(size_of(n_targets + 1));
  for (const StaircaseRow& row : rows(n_targets)) rows_of[size_of(row.factor)].push_back(row);
  const Positions of_left = positions(left_.sums);
  const Positions of_right = positions(right_.sums);
  for (std::size_t t = 0; t < maps.size(); ++t) {
    if (maps[t].is_identity()) continue;
    const Matrix coefficients = chebyshev.substituted(maps[t]);
    const bool on_left = t < n_left;
    const std::vector<Receiver> order =
        on_left ? receivers(left_.sums, of_left, t) : receivers(right_.sums, of_right, t - size_of(right_input_));
    double* section = statistic;
    for (const std::vector<StaircaseRow>& own : rows_of) {
      (on_left ? substitute_rows : substitute_columns)(section, own, order, coefficients);
      section += &own == rows_of.data() ? n_moments_ : n_target_moments_;
    }
  }
}

void MomentPlan::shift_targets(double* statistic, const std::vector<double>& shifts) const {
  const auto n_targets = static_cast<Index>(shifts.size());
  double* with_targets = statistic + n_moments_;
  double* products = with_targets + n_targets * n_target_moments_;
  const auto left = size_of(left_.part_of_term.front());
  const Index right = right_.part_sum[size_of(right_.part_of_term.front())];
  const double weight = statistic[sum_start_[size_of(left_.part_sum[left])] + right];
  const auto sum = [&](Index k) { return with_targets[k * n_target_moments_ + part_start_[left] + right]; };
  // the products first, which need the sums of the targets as they were
  for (Index k = 0; k < n_targets; ++k) {
    for (Index j = 0; j <= k; ++j) {
      const double a = shifts[size_of(k)];
      const double b = shifts[size_of(j)];
      products[k * n_targets + j] += a * sum(j) + b * sum(k) + a * b * weight;
      products[j * n_targets + k] = products[k * n_targets + j];
    }
  }
  for (Index k = 0; k < n_targets; ++k) {
    for (std::size_t a = 0; a < part_need_.size(); ++a) {
      const double* moments = statistic + sum_start_[size_of(left_.part_sum[a])];
      double* own = with_targets + k * n_target_moments_ + part_start_[a];
      for (Index i = 0; i < part_need_[a]; ++i) own[i] += shifts[size_of(k)] * moments[i];
    }
  }
}

}  // namespace gegenbauer
