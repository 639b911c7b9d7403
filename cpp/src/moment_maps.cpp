#include <algorithm>
#include <utility>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/moments.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

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
  std::sort(found.begin(), found.end(), [](const Receiver& a, const Receiver& b) {
    return a.degree != b.degree ? a.degree > b.degree : a.function < b.function;
  });
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
