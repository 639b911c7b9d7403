#include "index_set_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

Index most_inputs(const IndexSetSpec& spec) { return std::min(spec.n_inputs, spec.max_inputs.value_or(spec.n_inputs)); }

Index most_functions(const IndexSetSpec& spec, Index input) {
  const Index wanted = spec.degrees.empty() ? std::numeric_limits<Index>::max() : spec.degrees[size_of(input)];
  return spec.spectrum ? std::min(wanted, spec.spectrum->n_functions(input)) : wanted;
}

namespace {

constexpr Index kMaxInputs = 10'000'000;
constexpr std::uint64_t kSaturated = std::uint64_t{1} << 63U;

TermCount count_of(std::uint64_t value) { return {value, static_cast<double>(value)}; }

TermCount operator+(const TermCount& a, const TermCount& b) {
  // neither is larger than kSaturated
  const std::uint64_t sum = a.exact > kSaturated - b.exact ? kSaturated : a.exact + b.exact;
  return {sum, a.approximate + b.approximate};
}

TermCount operator*(const TermCount& a, const TermCount& b) {
  const bool fits = a.exact == 0 || b.exact <= kSaturated / a.exact;
  return {fits ? a.exact * b.exact : kSaturated, a.approximate * b.approximate};
}

// n choose 0, n choose 1, ... Every value follows exactly from the one before.
class Binomials {
 public:
  explicit Binomials(Index n) : n_(n) {}
  [[nodiscard]] const TermCount& value() const { return value_; }
  void next() {
    ++k_;
    const auto factor = static_cast<std::uint64_t>(std::max<Index>(0, n_ - k_ + 1));
    const auto divisor = static_cast<std::uint64_t>(k_);
    const double approximate = value_.approximate * static_cast<double>(factor) / static_cast<double>(k_);
    if (value_.is_exact()) {
      // value * factor / divisor without a product that is larger than the result: without the common factor, what is
      // left of the divisor has none with what is left of the other, so it divides the value
      const std::uint64_t common = std::gcd(factor, divisor);
      value_.exact /= divisor / common;
      value_ = value_ * count_of(factor / common);
    }
    value_.approximate = value_.is_exact() ? static_cast<double>(value_.exact) : approximate;
  }

 private:
  Index n_;
  Index k_ = 0;
  TermCount value_ = count_of(1);
};

TermCount binomial(Index n, Index k) {
  Binomials row(n);
  for (Index i = 0; i < std::min(k, n - k); ++i) row.next();
  return row.value();
}

// sum over j <= p inputs of (ways to choose them) * ways(j), until the sum is beyond all numbers
template <class Ways>
TermCount sum_over_choices(const IndexSetSpec& spec, Ways&& ways) {
  TermCount total = count_of(0);
  Binomials choices(spec.n_inputs);
  for (Index j = 0; j <= most_inputs(spec); ++j, choices.next()) {
    const TermCount part = choices.value() * ways(j);
    if (part.approximate == 0 || !std::isfinite(total.approximate)) break;
    total = total + part;
  }
  return total;
}

// ways: to share the degree, each input getting at least 1
TermCount count_total_degree(const IndexSetSpec& spec, Index degree) {
  if (most_inputs(spec) >= std::min(spec.n_inputs, degree)) return binomial(spec.n_inputs + degree, degree);
  Binomials shares(degree);
  return sum_over_choices(spec, [&](Index j) {
    if (j > 0) shares.next();
    return shares.value();
  });
}

// The degrees of each input in a tensor set, as far as they end below `degree`; none where no input's do.
std::vector<Index> caps_below(const IndexSetSpec& spec, Index degree) {
  if (spec.degrees.empty() && !(spec.spectrum && spec.spectrum->has_levels())) return {};
  std::vector<Index> caps;
  bool any = !spec.degrees.empty();
  for (Index t = 0; t < spec.n_inputs; ++t) {
    const Index most = most_functions(spec, t);
    any = any || most < degree;
    caps.push_back(spec.degrees.empty() ? std::min(degree, most) : most);
  }
  return any ? caps : std::vector<Index>{};
}

// ways: degree^j; or, with a degree for each input, the elementary symmetric polynomials of them
TermCount count_tensor(const IndexSetSpec& spec, Index degree, const std::vector<Index>& degrees) {
  if (degrees.empty()) {
    TermCount power = count_of(1);
    return sum_over_choices(spec, [&](Index j) {
      if (j > 0) power = power * count_of(static_cast<std::uint64_t>(degree));
      return power;
    });
  }
  std::vector<TermCount> ways(size_of(most_inputs(spec)) + 1, count_of(0));
  ways[0] = count_of(1);
  std::size_t used = 0;
  for (const Index d : degrees) {
    if (d == 0) continue;
    used = std::min(used + 1, ways.size() - 1);
    for (std::size_t j = used; j >= 1; --j) ways[j] = ways[j] + ways[j - 1] * count_of(static_cast<std::uint64_t>(d));
    // beyond all numbers, and more inputs make it no less
    if (!std::isfinite(ways[used / 2].approximate) || !std::isfinite(ways[used].approximate)) break;
  }
  TermCount total = count_of(0);
  for (const TermCount& way : ways) total = total + way;
  return total;
}

// sum over j of (n_inputs choose j) * (j-tuples of numbers >= 2 with product <= degree + 1)
TermCount count_hyperbolic(const IndexSetSpec& spec, Index degree) {
  const auto limit = size_of(degree) + 1;
  std::vector<std::uint64_t> tuples(limit + 1, 0);  // with product exactly n
  tuples[1] = 1;
  TermCount total = count_of(1);
  for (Index j = 1; j <= most_inputs(spec) && (std::size_t{1} << static_cast<unsigned>(j)) <= limit; ++j) {
    std::vector<std::uint64_t> longer(limit + 1, 0);
    for (std::size_t n = 1; n <= limit; ++n) {
      if (tuples[n] == 0) continue;
      for (std::size_t v = 2; n * v <= limit; ++v) longer[n * v] += tuples[n];
    }
    tuples.swap(longer);
    const auto ways = std::accumulate(tuples.begin(), tuples.end(), std::uint64_t{0});
    total = total + binomial(spec.n_inputs, j) * count_of(ways);
  }
  return total;
}

// Sets of which some inputs have fewer functions than the set allows: `caps`, one an input. Inputs of as many as
// wanted are free. Ways of the others to use j inputs and `spent` of what the set shares out, times the terms of the
// free inputs with what is left.
class CappedCount {
 public:
  CappedCount(const IndexSetSpec& spec, std::vector<Index> caps) : free_(spec), caps_(std::move(caps)) {
    free_.degrees.clear();
    free_.spectrum.reset();
    most_ = most_inputs(spec);
  }

  TermCount total_degree(Index degree) {
    double all = 0.0;
    for (const Index cap : caps_) all += static_cast<double>(cap);
    if (all <= static_cast<double>(degree)) return count_tensor(free_, degree, caps_);
    const auto spend = [&](Index spent, Index n) { return spent + n; };
    return sum(
        degree, 0, spend, [&](Index left) { return count_total_degree(free_, left); },
        [&](Index spent) { return degree - spent; });
  }

  TermCount hyperbolic(Index degree) {
    const Index limit = degree + 1;
    const auto spend = [&](Index spent, Index n) { return spent * (n + 1); };
    return sum(
        limit, 1, spend, [&](Index left) { return count_hyperbolic(free_, left - 1); },
        [&](Index spent) { return limit / spent; });
  }

 private:
  // Of the free inputs, with what is left of the limit
  template <class Spend, class Count, class Left>
  TermCount sum(Index limit, Index nothing, Spend&& spend, Count&& count, Left&& left) {
    const auto size = size_of(limit) + 1;
    const bool limited = most_ < static_cast<Index>(caps_.size());  // else the number of inputs does not matter
    std::vector<std::vector<TermCount>> ways{std::vector<TermCount>(size, count_of(0))};  // by inputs, by what is spent
    ways[0][size_of(nothing)] = count_of(1);
    Index n_free = 0;
    for (const Index cap : caps_) {
      if (cap == 0) continue;
      if (cap >= limit - nothing) {
        ++n_free;
        continue;
      }
      if (limited && static_cast<Index>(ways.size()) <= most_) ways.emplace_back(size, count_of(0));
      for (std::size_t j = ways.size(); j-- > (limited ? 1U : 0U);) {
        const std::vector<TermCount>& before = ways[limited ? j - 1 : j];
        for (Index spent = limit; spent >= nothing; --spent) {  // falling, where both are one
          const TermCount from = before[size_of(spent)];
          if (from.approximate == 0) continue;
          for (Index n = 1; n <= cap && spend(spent, n) <= limit; ++n) {
            TermCount& after = ways[j][size_of(spend(spent, n))];
            after = after + from;
          }
        }
      }
    }
    TermCount total = count_of(0);
    for (std::size_t j = 0; j < ways.size(); ++j) {
      free_.n_inputs = n_free;
      free_.max_inputs = most_ - static_cast<Index>(j);
      for (Index spent = nothing; spent <= limit;) {
        // what leaves as much to the free inputs
        TermCount same = count_of(0);
        const Index rest = left(spent);
        for (; spent <= limit && left(spent) == rest; ++spent) same = same + ways[j][size_of(spent)];
        if (same.approximate > 0) total = total + (n_free == 0 || free_.max_inputs == 0 ? same : same * count(rest));
      }
    }
    return total;
  }

  IndexSetSpec free_;
  std::vector<Index> caps_;
  Index most_ = 0;
};

TermCount count_whole(const IndexSetSpec& spec, Index degree) {
  const std::vector<Index> caps = caps_below(spec, degree);
  const bool capped = !caps.empty();
  switch (spec.kind) {
    case IndexSet::tensor:
      return count_tensor(spec, degree, caps);
    case IndexSet::hyperbolic_cross:
      return capped ? CappedCount(spec, caps).hyperbolic(degree) : count_hyperbolic(spec, degree);
    case IndexSet::largest_weight:
      if (!spec.degrees.empty()) return count_tensor(spec, degree, caps);
      [[fallthrough]];
    case IndexSet::total_degree:
      return capped ? CappedCount(spec, caps).total_degree(degree) : count_total_degree(spec, degree);
  }
  return {};
}

// The degree from which on a set has all terms there are, at most kMaxDegree.
Index whole_degree(const IndexSetSpec& spec) {
  const std::vector<Index> caps = caps_below(spec, kMaxDegree);
  if (caps.empty()) return kMaxDegree;
  const bool hyperbolic = spec.kind == IndexSet::hyperbolic_cross;
  double whole = hyperbolic ? 1.0 : 0.0;
  for (const Index cap : caps) {
    const auto most = static_cast<double>(cap);
    whole = hyperbolic ? whole * (most + 1) : spec.kind == IndexSet::tensor ? std::max(whole, most) : whole + most;
  }
  return static_cast<Index>(std::min(hyperbolic ? whole - 1 : whole, static_cast<double>(kMaxDegree)));
}

void validate(const IndexSetSpec& spec) {
  require(spec.n_inputs >= 1, "`n_features` must be at least 1, got ", spec.n_inputs);
  require(spec.n_inputs <= kMaxInputs, "`n_features` must be at most ", kMaxInputs, ", got ", spec.n_inputs);
  require(!spec.degree || (*spec.degree >= 0 && *spec.degree <= kMaxDegree), "`degree` must be between 0 and ",
          kMaxDegree, ", got ", spec.degree.value_or(0));
  require(!spec.n_terms || *spec.n_terms >= 1, "`n_terms` must be at least 1, got ", spec.n_terms.value_or(0));
  require(!spec.max_inputs || *spec.max_inputs >= 1, "`max_interaction` must be at least 1, got ",
          spec.max_inputs.value_or(0));
  require(spec.degree || spec.n_terms || !spec.degrees.empty(),
          "neither `degree` nor `n_terms` is given: give at least one of them");
  if (!spec.degrees.empty()) {
    require(spec.kind == IndexSet::tensor || spec.kind == IndexSet::largest_weight,
            "a `degree` for each input needs `index_set='tensor'` or 'largest_weight'");
    require(static_cast<Index>(spec.degrees.size()) == spec.n_inputs, "`degree` has ", spec.degrees.size(),
            " entries but there are ", spec.n_inputs, " inputs");
    for (const Index d : spec.degrees)
      require(d >= 0 && d <= kMaxDegree, "`degree` must be between 0 and ", kMaxDegree, ", got ", d);
  }
  if (spec.kind == IndexSet::largest_weight) {
    require(spec.n_terms.has_value(), "`index_set='largest_weight'` needs `n_terms`");
    require(spec.spectrum.has_value(), "`index_set='largest_weight'` needs a `spectrum`");
  }
  if (spec.spectrum)
    require(spec.spectrum->n_inputs() == spec.n_inputs, "the spectrum has ", spec.spectrum->n_inputs(), " inputs, not ",
            spec.n_inputs);
}

TermCount cut(const TermCount& whole, const IndexSetSpec& spec) {
  if (spec.n_terms && static_cast<std::uint64_t>(*spec.n_terms) < whole.exact)
    return count_of(static_cast<std::uint64_t>(*spec.n_terms));
  return whole;
}

// The terms of largest weight that there are: of the inputs that have weights.
TermCount count_largest_weight(const IndexSetSpec& spec) {
  IndexSetSpec used = spec;
  used.degrees.clear();
  used.spectrum.reset();
  used.n_inputs = 0;
  std::vector<Index> caps;
  const Index degree = spec.degree.value_or(kMaxDegree);
  for (Index t = 0; t < spec.n_inputs; ++t) {
    if (!spec.spectrum->uses(t)) continue;
    ++used.n_inputs;
    caps.push_back(std::min(degree, most_functions(spec, t)));
  }
  if (used.n_inputs == 0) return count_of(1);
  if (!spec.degrees.empty()) {
    used.degrees = caps;
    return cut(count_whole(used, degree), spec);
  }
  if (std::all_of(caps.begin(), caps.end(), [&](Index cap) { return cap == degree; }))
    return cut(count_whole(used, degree), spec);
  CappedCount count(used, caps);
  for (Index d = std::min<Index>(16, degree);; d = std::min(2 * d, degree)) {  // low degrees have enough, most often
    const TermCount whole = count.total_degree(d);
    if (d == degree || whole.exact >= static_cast<std::uint64_t>(*spec.n_terms)) return cut(whole, spec);
  }
}

}  // namespace

Index resolve_degree(const IndexSetSpec& spec) {
  if (spec.degree) return *spec.degree;
  if (!spec.degrees.empty()) return *std::max_element(spec.degrees.begin(), spec.degrees.end());
  const Index most = whole_degree(spec);
  const auto enough = [&](Index degree) {
    return count_whole(spec, degree).exact >= static_cast<std::uint64_t>(*spec.n_terms);
  };
  if (most == 0 || enough(0)) return 0;
  Index high = 1;
  while (high < most && !enough(high)) high = std::min(2 * high, most);
  if (most < kMaxDegree && !enough(high)) return most;  // all terms there are
  require(enough(high), "n_terms = ", *spec.n_terms, " needs a degree above ", kMaxDegree,
          Advice{Way{"", {"lower `n_terms`", "raise `max_interaction`"}}});
  Index low = high / 2;
  while (high - low > 1) {
    const Index middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

TermCount count_terms(const IndexSetSpec& spec) {
  validate(spec);
  if (spec.kind == IndexSet::largest_weight) return count_largest_weight(spec);
  return cut(count_whole(spec, resolve_degree(spec)), spec);
}

}  // namespace gegenbauer
