#include "gegenbauer/moments.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

constexpr Advice kFeaturesInstead{Way{"sum the features instead (GramStatistics, `engine='primal'`)"}};

}  // namespace

void require_polynomials(const TensorBasis& basis) {
  require(!basis.functions().have_levels(),
          "moments are sums of Chebyshev polynomials, which categories and numbers that may be missing are not",
          kFeaturesInstead);
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
      left_(halves.left),
      right_(halves.right),
      right_input_(halves.right.first_input),
      left_basis_(chebyshev(left_)),
      right_basis_(chebyshev(right_)) {
  make_staircase();
  make_connection(basis);
  const Vector sums = connection_.cwiseAbs().rowwise().sum();
  std::vector<double> shares(size_of(n_terms_), 1.0);
  const MultiIndexSet& indices = basis.indices();
  for (Index l = 0; l < n_terms_; ++l) {
    if (l > 0) shares[size_of(l)] = shares[size_of(indices.parent(l))] * sums(indices.degree(l));
    const double bound = scale_[size_of(l)] * shares[size_of(l)];
    squared_bounds_ += bound * bound;
  }
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

void MomentPlan::make_connection(const TensorBasis& basis) {
  const MultiIndexSet& indices = basis.indices();
  const Index degree = *std::max_element(indices.max_degrees().begin(), indices.max_degrees().end());
  // C_n = sum over i of u_i u_{n-i} T_|n-2i| with u_i = (lam)_i / i!. Only the shares are taken from it; the size comes
  // from the leading coefficients of p_n and T_n, so any normalisation is served, and any weights of the inputs, and
  // nothing overflows or cancels.
  std::vector<double> u(size_of(degree) + 1, 1.0);
  for (std::size_t i = 1; i < u.size(); ++i)
    u[i] = u[i - 1] * (basis.lam() + static_cast<double>(i) - 1.0) / static_cast<double>(i);
  connection_ = Matrix::Zero(degree + 1, degree + 1);
  for (Index n = 0; n <= degree; ++n) {
    connection_(n, n) = 1.0;
    if (basis.lam() == 0.0) continue;
    for (Index i = 1; i < n; ++i)
      connection_(n, std::abs(n - 2 * i)) += u[size_of(i)] * u[size_of(n - i)] / (2 * u[size_of(n)]);
  }
  std::vector<Exponents> terms;
  for (Index l = 0; l < n_terms_; ++l) terms.push_back(indices.exponents(l));
  const Positions position = positions(terms);
  factors_.resize(size_of(basis.n_inputs()));
  scale_.assign(size_of(n_terms_), 1.0);
  // from the highest degree down, so that a column is changed before those that it needs
  for (std::size_t t = 0; t < factors_.size(); ++t) {
    const Recurrence& recurrence = basis.functions().recurrences()[static_cast<Index>(t)];
    std::vector<double> leading{1.0};
    for (Index n = 1; n <= indices.max_degree(static_cast<Index>(t)); ++n)
      leading.push_back(leading.back() * recurrence.slope(n) * (n == 1 ? 1.0 : 0.5));
    std::vector<Index> order(size_of(n_terms_));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return terms[size_of(a)][t] > terms[size_of(b)][t]; });
    for (const Index l : order) {
      const std::int32_t n = terms[size_of(l)][t];
      if (n == 0) break;
      scale_[size_of(l)] *= leading[size_of(n)];
      if (n < 2 || basis.lam() == 0.0) continue;
      factors_[t].push_back({static_cast<std::int32_t>(l), n, static_cast<Index>(below_.size())});
      Exponents lower = terms[size_of(l)];
      for (std::int32_t j = n - 2; j >= 0; j -= 2) {
        lower[t] = j;
        below_.push_back(position.at(lower));
      }
    }
  }
}

MomentCounts MomentPlan::counts(Index n_targets) const {
  const auto k = static_cast<double>(n_targets);
  return {padded_moments_ + k * static_cast<double>(n_target_moments_),
          static_cast<double>(sum_need_.size()) + k * static_cast<double>(part_need_.size()),
          static_cast<double>(left_basis_.n_factors() + right_basis_.n_factors() + left_basis_.n_terms() +
                              right_basis_.n_terms())};
}

}  // namespace gegenbauer
