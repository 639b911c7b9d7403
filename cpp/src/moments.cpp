#include "gegenbauer/moments.hpp"

#include <algorithm>

#include "gegenbauer/cost_units.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

TensorBasis chebyshev(const MomentHalf& half) {
  return {MultiIndexSet(static_cast<Index>(half.sums.front().size()), half.sums), 0.0, Normalization::chebyshev};
}

}  // namespace

MomentHalf::MomentHalf(const Half& half) : n_parts(half.size()), part_of_term(half.of_term) {
  const std::vector<Exponents>& parts = half.parts;
  // The parts are downward closed, so their sums are as well.
  Positions position;
  Exponents sum(parts.front().size());
  for (std::size_t a = 0; a < parts.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      std::transform(parts[a].begin(), parts[a].end(), parts[b].begin(), sum.begin(), std::plus<>());
      if (position.try_emplace(sum, 0).second) sums.push_back(sum);
    }
  }
  std::sort(sums.begin(), sums.end(), Graded());
  for (std::size_t i = 0; i < sums.size(); ++i) position.at(sums[i]) = static_cast<std::int32_t>(i);
  for (const Exponents& part : parts) part_sum.push_back(position.at(part));
  // T_a T_b in each input: a + b and |a - b|, which are one when either is 0
  pair_start.push_back(0);
  for (const Exponents& a : parts) {
    for (const Exponents& b : parts) {
      std::vector<Exponents> found{Exponents(a.size(), 0)};
      for (std::size_t t = 0; t < a.size(); ++t) {
        const std::size_t n = found.size();
        for (std::size_t i = 0; i < n; ++i) {
          found[i][t] = a[t] + b[t];
          if (a[t] > 0 && b[t] > 0) {
            found.push_back(found[i]);
            found.back()[t] = std::abs(a[t] - b[t]);
          }
        }
      }
      for (const Exponents& k : found) pair_sum.push_back(position.at(k));
      pair_start.push_back(static_cast<std::int32_t>(pair_sum.size()));
    }
  }
}

namespace {

const Halves& checked_halves(const TensorBasis& basis) {
  require_polynomials(basis);
  const auto& halves = basis.plan<BasisHalves>();
  require(MomentPlan::exists(basis), "the moments of ", basis.n_terms(), " terms in ", basis.n_inputs(),
          " inputs need too large a plan (a work of ", halves.plan_work(), ", at most ", MomentPlan::kMostWork,
          " is allowed)", Advice{kFeaturesInstead[0], Way{"use", {"fewer inputs", "a lower `degree`"}}});
  return halves;
}

}  // namespace

MomentPlan::MomentPlan(const TensorBasis& basis) : MomentPlan(basis, checked_halves(basis)) {}

MomentPlan::MomentPlan(const TensorBasis& basis, const Halves& halves)
    : n_terms_(basis.n_terms()),
      form_(basis.plan<ChebyshevForm>()),
      left_(halves.left),
      right_(halves.right),
      right_input_(halves.right.first_input),
      left_basis_(chebyshev(left_)),
      right_basis_(chebyshev(right_)) {
  make_staircase();
  std::vector<Index> degrees = basis.indices().max_degrees();
  for (Index& degree : degrees) degree *= 2;
  if (GridOfFew::exists(degrees)) few_.emplace(degrees);
  padded_moments_ = Staircase(left_basis_, right_basis_, right_input_, rows(0)).padded_size();
}

void MomentPlan::make_staircase() {
  // What a pair of left parts needs is the sum of their reaches; what a sum needs its differences need as well.
  members_.resize(size_of(left_.n_parts));
  reach_.assign(size_of(left_.n_parts), 0);
  for (Index l = 0; l < n_terms_; ++l) {
    const std::int32_t left = left_.part_of_term[size_of(l)];
    const std::int32_t right = right_.part_of_term[size_of(l)];
    members_[size_of(left)].push_back({right, static_cast<std::int32_t>(l)});
    std::int32_t& most = reach_[size_of(left)];
    most = std::max(most, total_degree(right_.sums[size_of(right_.part_sum[size_of(right)])]));
  }
  for (std::vector<Member>& members : members_)
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) { return a.right_part < b.right_part; });
  std::vector<std::int32_t> sum_reach(size_of(left_.n_sums()), 0);
  const Index n = left_.n_parts;
  for (Index a = 0; a < n; ++a) {
    for (Index b = 0; b < n; ++b) {
      const std::int32_t total = reach_[size_of(a)] + reach_[size_of(b)];
      for (std::int32_t i = left_.pair_start[size_of(a * n + b)]; i < left_.pair_start[size_of(a * n + b + 1)]; ++i) {
        std::int32_t& most = sum_reach[size_of(left_.pair_sum[size_of(i)])];
        most = std::max(most, total);
      }
    }
  }
  for (const Exponents& k : right_.sums) {
    const auto total = size_of(total_degree(k));
    if (up_to_.size() <= total) up_to_.resize(total + 1, up_to_.empty() ? 0 : up_to_.back());
    ++up_to_[total];
  }
  const auto lay = [&](const std::vector<std::int32_t>& totals, std::vector<std::int32_t>& need,
                       std::vector<Index>& start) {
    Index end = 0;
    for (const std::int32_t total : totals) {
      need.push_back(sums_up_to(total));
      start.push_back(end);
      end += need.back();
    }
    return end;
  };
  n_moments_ = lay(sum_reach, sum_need_, sum_start_);
  n_target_moments_ = lay(reach_, part_need_, part_start_);
}

std::vector<StaircaseRow> MomentPlan::rows(Index n_targets) const {
  std::vector<StaircaseRow> rows;
  for (std::size_t i = 0; i < sum_need_.size(); ++i) rows.push_back({static_cast<std::int32_t>(i), 0, sum_need_[i]});
  for (Index k = 0; k < n_targets; ++k)
    for (std::size_t a = 0; a < part_need_.size(); ++a)
      rows.push_back({left_.part_sum[a], static_cast<std::int32_t>(k + 1), part_need_[a]});
  return rows;
}

double MomentPlan::staircase_cost(double n_samples, double n_targets) const {
  const double products = padded_moments_ + n_targets * static_cast<double>(n_target_moments_);
  const double rows = static_cast<double>(sum_need_.size()) + n_targets * static_cast<double>(part_need_.size());
  const auto entries = static_cast<double>(left_basis_.n_factors() + right_basis_.n_factors() + left_basis_.n_terms() +
                                           right_basis_.n_terms());
  return n_samples * (units::kStaircase * products + units::kPackedTerm * rows + units::kTableEntry * entries);
}

double MomentPlan::sums_cost(double n_samples, double n_targets) const {
  const double staircase = staircase_cost(n_samples, n_targets);
  return few_ ? std::min(staircase, few_->sums_cost(n_samples, 1.0 + n_targets)) : staircase;
}

}  // namespace gegenbauer
