#include "index_set_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

Index most_inputs(const IndexSetSpec& spec) { return std::min(spec.n_inputs, spec.max_inputs.value_or(spec.n_inputs)); }

namespace {

constexpr Index kMaxInputs = 10'000'000;
__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kSaturated = std::uint64_t{1} << 63U;

TermCount count_of(std::uint64_t value) { return {value, static_cast<double>(value)}; }

TermCount operator+(const TermCount& a, const TermCount& b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a.exact, b.exact, &sum)) sum = kSaturated;
  return {std::min(kSaturated, sum), a.approximate + b.approximate};
}

TermCount operator*(const TermCount& a, const TermCount& b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a.exact, b.exact, &product)) product = kSaturated;
  return {std::min(kSaturated, product), a.approximate * b.approximate};
}

// n choose 0, n choose 1, ... Every value follows exactly from the one before.
class Binomials {
 public:
  explicit Binomials(Index n) : n_(n) {}
  [[nodiscard]] const TermCount& value() const { return value_; }
  void next() {
    ++k_;
    const auto factor = static_cast<std::uint64_t>(std::max<Index>(0, n_ - k_ + 1));
    if (value_.is_exact()) {
      const auto wide = static_cast<Wide>(value_.exact) * factor / static_cast<std::uint64_t>(k_);
      value_.exact = wide < kSaturated ? static_cast<std::uint64_t>(wide) : kSaturated;
    }
    value_.approximate = value_.is_exact() ? static_cast<double>(value_.exact)
                                           : value_.approximate * static_cast<double>(factor) / static_cast<double>(k_);
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

// ways: degree^j; or, with a degree for each input, the elementary symmetric polynomials of them
TermCount count_tensor(const IndexSetSpec& spec, Index degree) {
  if (spec.degrees.empty()) {
    TermCount power = count_of(1);
    return sum_over_choices(spec, [&](Index j) {
      if (j > 0) power = power * count_of(static_cast<std::uint64_t>(degree));
      return power;
    });
  }
  std::vector<TermCount> ways(size_of(most_inputs(spec)) + 1, count_of(0));
  ways[0] = count_of(1);
  std::size_t used = 0;
  for (const Index d : spec.degrees) {
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

TermCount count_whole(const IndexSetSpec& spec, Index degree) {
  switch (spec.kind) {
    case IndexSet::total_degree:
      return count_total_degree(spec, degree);
    case IndexSet::tensor:
      return count_tensor(spec, degree);
    case IndexSet::hyperbolic_cross:
      return count_hyperbolic(spec, degree);
    case IndexSet::largest_weight:
      return spec.degrees.empty() ? count_total_degree(spec, degree) : count_tensor(spec, degree);
  }
  return {};
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
    require(spec.spectrum->n_inputs() == spec.n_inputs, "the spectrum has ", spec.spectrum->n_inputs(), " inputs, not ",
            spec.n_inputs);
  }
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
  used.n_inputs = 0;
  for (Index t = 0; t < spec.n_inputs; ++t) {
    if (!spec.spectrum->uses(t)) continue;
    ++used.n_inputs;
    if (!spec.degrees.empty()) used.degrees.push_back(spec.degrees[size_of(t)]);
  }
  if (used.n_inputs == 0) return count_of(1);
  return cut(count_whole(used, spec.degree.value_or(kMaxDegree)), spec);
}

}  // namespace

Index resolve_degree(const IndexSetSpec& spec) {
  if (spec.degree) return *spec.degree;
  if (!spec.degrees.empty()) return *std::max_element(spec.degrees.begin(), spec.degrees.end());
  const auto enough = [&](Index degree) {
    return count_whole(spec, degree).exact >= static_cast<std::uint64_t>(*spec.n_terms);
  };
  Index high = 1;
  if (enough(0)) return 0;
  while (high < kMaxDegree && !enough(high)) high = std::min(2 * high, kMaxDegree);
  require(enough(high), "n_terms = ", *spec.n_terms, " needs a degree above ", kMaxDegree,
          ": lower `n_terms` or raise `max_interaction`");
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
