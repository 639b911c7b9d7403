#include "gegenbauer/multi_index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

constexpr Index kMaxDegree = 100'000;
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

Index most_inputs(const IndexSetSpec& spec) { return std::min(spec.n_inputs, spec.max_inputs.value_or(spec.n_inputs)); }

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

std::vector<Index> tensor_degrees(const IndexSetSpec& spec, Index degree) {
  return spec.degrees.empty() ? std::vector<Index>(size_of(spec.n_inputs), degree) : spec.degrees;
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
  require(spec.n_inputs >= 1, "n_features must be at least 1, got ", spec.n_inputs);
  require(spec.n_inputs <= kMaxInputs, "n_features must be at most ", kMaxInputs, ", got ", spec.n_inputs);
  require(!spec.degree || (*spec.degree >= 0 && *spec.degree <= kMaxDegree), "degree must be between 0 and ",
          kMaxDegree, ", got ", spec.degree.value_or(0));
  require(!spec.n_terms || *spec.n_terms >= 1, "n_terms must be at least 1, got ", spec.n_terms.value_or(0));
  require(!spec.max_inputs || *spec.max_inputs >= 1, "max_interaction must be at least 1, got ",
          spec.max_inputs.value_or(0));
  require(spec.degree || spec.n_terms || !spec.degrees.empty(),
          "neither degree nor n_terms is given: give at least one of them");
  if (!spec.degrees.empty()) {
    require(spec.kind == IndexSet::tensor || spec.kind == IndexSet::largest_weight,
            "a degree for each input needs index_set='tensor' or 'largest_weight'");
    require(static_cast<Index>(spec.degrees.size()) == spec.n_inputs, "degree has ", spec.degrees.size(),
            " entries but there are ", spec.n_inputs, " inputs");
    for (const Index d : spec.degrees)
      require(d >= 0 && d <= kMaxDegree, "degree must be between 0 and ", kMaxDegree, ", got ", d);
  }
  if (spec.kind == IndexSet::largest_weight) {
    require(spec.n_terms.has_value(), "index_set='largest_weight' needs n_terms");
    require(spec.spectrum.has_value(), "index_set='largest_weight' needs a spectrum");
    require(spec.spectrum->n_inputs() == spec.n_inputs, "the spectrum has ", spec.spectrum->n_inputs(), " inputs, not ",
            spec.n_inputs);
  }
}

// the degree given, or the smallest whose set has n_terms terms
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
          ": lower n_terms or raise max_interaction");
  Index low = high / 2;
  while (high - low > 1) {
    const Index middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
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

TermCount count_terms(const IndexSetSpec& spec) {
  validate(spec);
  if (spec.kind == IndexSet::largest_weight) return count_largest_weight(spec);
  return cut(count_whole(spec, resolve_degree(spec)), spec);
}

MultiIndexSet::MultiIndexSet(const IndexSetSpec& spec, const Control& control) : n_inputs_(spec.n_inputs) {
  const TermCount count = count_terms(spec);
  if (count.exact > static_cast<std::uint64_t>(kMaxTerms)) {
    std::ostringstream size;  // bytes for one row of features: the smallest thing anybody does with the terms
    if (count.is_exact()) {
      size << count.exact << " terms (" << 8 * count.approximate << " bytes for one row of features)";
    } else if (std::isfinite(count.approximate)) {
      size << "about " << count.approximate << " terms (" << 8 * count.approximate << " bytes for one row of features)";
    } else {
      size << "more than 1e308 terms (as many bytes for one row of features)";
    }
    require(false, "the index set has ", size.str(), ", but at most ", kMaxTerms,
            " can be handled: lower degree, n_terms or max_interaction, or use fewer inputs");
  }
  const auto size = static_cast<std::size_t>(count.exact);
  parent_.reserve(size);
  input_.reserve(size);
  degree_.reserve(size);
  max_degree_.assign(size_of(n_inputs_), 0);
  if (spec.kind == IndexSet::largest_weight) {
    generate_largest_weight(spec, control);
  } else {
    generate_graded(spec, resolve_degree(spec), control);
  }
}

MultiIndexSet::MultiIndexSet(Index n_inputs, const std::vector<std::vector<std::int32_t>>& terms)
    : n_inputs_(n_inputs), max_degree_(size_of(n_inputs), 0) {
  std::map<std::vector<std::int32_t>, Index> position;
  for (const std::vector<std::int32_t>& term : terms) {
    require(static_cast<Index>(term.size()) == n_inputs, "a multi-index has ", term.size(), " entries, not ", n_inputs);
    Index last = n_inputs - 1;
    while (last >= 0 && term[size_of(last)] == 0) --last;
    if (last < 0) {
      require(size() == 0, "the constant term must come first and once");
      append(-1, 0, 0);
    } else {
      std::vector<std::int32_t> rest = term;
      rest[size_of(last)] = 0;
      const auto parent = position.find(rest);
      require(parent != position.end(), "the terms are not downward closed");
      append(parent->second, last, term[size_of(last)]);
    }
    position.emplace(term, size() - 1);
  }
  require(size() > 0, "a set needs at least the constant term");
}

std::vector<std::int32_t> MultiIndexSet::exponents(Index l) const {
  std::vector<std::int32_t> out(size_of(n_inputs_), 0);
  for (; l > 0; l = parent(l)) out[size_of(input(l))] = degree(l);
  return out;
}

void MultiIndexSet::append(Index parent, Index input, Index degree) {
  parent_.push_back(static_cast<std::int32_t>(parent));
  input_.push_back(static_cast<std::int32_t>(input));
  degree_.push_back(static_cast<std::int32_t>(degree));
  if (parent >= 0) {
    auto& most = max_degree_[size_of(input)];
    most = std::max(most, degree);
  }
}

// Level by level. A term of total degree d whose first input is t, with degree k, is x_t^k times a term of level d - k
// that uses later inputs only. In a lexicographic order the terms that use only inputs after t lie together, at the end
// of their level (descending) or at its start (ascending), already in order: each level is written in its final order.
// grevlex is the ascending order with the inputs taken from the last to the first.
void MultiIndexSet::generate_graded(const IndexSetSpec& spec, Index degree, const Control& control) {
  const Index m = n_inputs_;
  const bool descending = spec.order == TermOrder::grlex;
  const bool reversed = spec.order == TermOrder::grevlex;
  const auto actual = [&](Index t) { return reversed ? m - 1 - t : t; };
  const auto size = static_cast<std::size_t>(count_terms(spec).exact);
  const Index limit_inputs = most_inputs(spec);
  const bool hyperbolic = spec.kind == IndexSet::hyperbolic_cross;
  const std::int64_t limit_product = degree + 1;
  std::vector<Index> cap(size_of(m), degree);
  if (spec.kind == IndexSet::tensor) cap = tensor_degrees(spec, degree);

  std::vector<std::int32_t> first;       // first input of each term, in the order of the generation
  std::vector<std::int32_t> n_used;      // inputs that a term uses
  std::vector<std::int64_t> product;     // of (k_t + 1); hyperbolic cross only
  std::vector<std::int32_t> extensible;  // terms that may take one more input, level by level
  std::vector<std::size_t> level_start{0};
  // The last level with an extensible term of this first input; and, from the start of a level on, the last of those
  // whose terms use later inputs only. Extensible terms are downward closed, so there are such terms up to that level.
  std::vector<Index> reach(size_of(m) + 1, -1);
  std::vector<Index> reach_after(size_of(m));
  first.reserve(size);
  Index level = 0;
  const auto add = [&](Index parent, Index t, Index k) {
    const auto rest = size_of(std::max<Index>(parent, 0));
    if (parent < 0) {
      first.push_back(static_cast<std::int32_t>(m));
      n_used.push_back(0);
      product.push_back(1);
    } else {
      if (hyperbolic && product[rest] * (k + 1) > limit_product) return;
      first.push_back(static_cast<std::int32_t>(t));
      n_used.push_back(n_used[rest] + 1);
      product.push_back(hyperbolic ? product[rest] * (k + 1) : 1);
    }
    if (n_used.back() < limit_inputs) {
      extensible.push_back(static_cast<std::int32_t>(this->size()));
      reach[size_of(first.back())] = level;
    }
    append(parent, parent < 0 ? 0 : actual(t), k);
  };
  add(-1, 0, 0);
  for (level = 1; parent_.size() < size; ++level) {
    level_start.push_back(extensible.size());
    Index furthest = reach.back();
    for (std::size_t t = reach_after.size(); t-- > 0;) {
      reach_after[t] = furthest;
      furthest = std::max(furthest, reach[t]);
    }
    const auto run = [&](Index t, Index k) {
      const auto begin = extensible.begin() + static_cast<std::ptrdiff_t>(level_start[size_of(level - k)]);
      const auto end = extensible.begin() + static_cast<std::ptrdiff_t>(level_start[size_of(level - k) + 1]);
      const auto later = [&](std::int32_t l) { return first[size_of(l)] > t; };
      const auto edge = std::partition_point(begin, end, [&](std::int32_t l) { return later(l) != descending; });
      // positions, not iterators: `extensible` grows meanwhile
      const auto from = size_of((descending ? edge : begin) - extensible.begin());
      const auto to = size_of((descending ? end : edge) - extensible.begin());
      for (std::size_t i = from; i < to && parent_.size() < size; ++i) {
        if (i % 4096 == 0) control.check();
        add(extensible[i], t, k);
      }
    };
    const auto runs = [&](Index t, Index from, Index to) {
      for (Index j = from; j <= to && parent_.size() < size; ++j) run(t, descending ? from + to - j : j);
    };
    // A term of level d - k has a product of at least d - k + 1, so in a hyperbolic cross k is small or nearly d.
    Index small = level;
    if (hyperbolic) {
      const auto sum = static_cast<double>(level + 2);
      const double gap = sum * sum - 4 * static_cast<double>(limit_product);
      if (gap > 0) small = static_cast<Index>((sum - std::sqrt(gap)) / 2);
    }
    for (Index i = 0; i < m && parent_.size() < size; ++i) {
      control.check();
      const Index t = descending ? i : m - 1 - i;
      const Index least = std::max<Index>(1, level - reach_after[size_of(t)]);
      const Index most = std::min(level, cap[size_of(actual(t))]);
      const Index large = std::max({least, small + 1, level - small});
      if (descending) runs(t, large, most);
      runs(t, least, std::min(small, most));
      if (!descending) runs(t, large, most);
    }
  }
}

namespace {

// A candidate of the search by weight: the finished term `rest` times (input, degree), where the input, by its place in
// the order of the search, is the last of the term.
struct Candidate {
  std::int64_t cost;
  Index total;
  Index rest;
  Index place;
  Index degree;
  Index n_used;
};

// Units of 2^-40 in which costs are counted, and of 2^-30 in which they are compared
std::int64_t rounded(std::int64_t cost) { return (cost + 512) >> 10; }

// -log of the squared weights that count in the choice, and the inputs in the order of the costs of their first
// degrees.
class Costs {
 public:
  explicit Costs(const IndexSetSpec& spec) : spectrum_(*spec.spectrum), tables_(size_of(spectrum_.n_groups())) {
    for (Index t = 0; t < spec.n_inputs; ++t)
      if (spectrum_.uses(t) && (spec.degrees.empty() || spec.degrees[size_of(t)] > 0)) order_.push_back(t);
    if (spectrum_.n_groups() == 1) return;
    const auto first = [&](Index t) -> std::int64_t& { return table(t, 1)[1]; };
    std::stable_sort(order_.begin(), order_.end(), [&](Index a, Index b) { return first(a) < first(b); });
    // What is equal after rounding is a tie, and ties go by the number of the input.
    for (auto begin = order_.begin(); begin != order_.end();) {
      const std::int64_t least = first(*begin);
      const auto end = std::find_if(begin, order_.end(), [&](Index t) { return rounded(first(t)) != rounded(least); });
      for (auto t = begin; t != end; ++t) first(*t) = least;
      std::sort(begin, end);
      begin = end;
    }
  }

  [[nodiscard]] Index n_places() const { return static_cast<Index>(order_.size()); }
  [[nodiscard]] Index input(Index place) const { return order_[size_of(place)]; }
  [[nodiscard]] std::int64_t operator()(Index place, Index degree) {
    return table(input(place), degree)[size_of(degree)];
  }

 private:
  // That of the input's group, up to the degree at least.
  std::vector<std::int64_t>& table(Index input, Index degree) {
    std::vector<std::int64_t>& costs = tables_[size_of(spectrum_.group(input))];
    if (costs.empty()) costs.push_back(0);
    if (size_of(degree) < costs.size()) return costs;
    const std::vector<double> logs = spectrum_.log_squared_weights(input, 2 * degree);
    for (std::size_t n = costs.size(); n < logs.size(); ++n) {
      const double cost = std::min(std::max(0.0, -logs[n]), 4.0e5);
      costs.push_back(std::max(costs.back(), static_cast<std::int64_t>(std::llround(std::ldexp(cost, 40)))));
    }
    return costs;
  }

  const Spectrum& spectrum_;
  std::vector<std::vector<std::int64_t>> tables_;  // of each group
  std::vector<Index> order_;
};

}  // namespace

// Best first. Cost = -log of the squared weight, additive over the inputs; no factor counts as more than one or than
// that of a lower degree, so that the set is downward closed. Costs are integers, so equal weights are equal whatever
// the order of summation, on every processor; ties go by total degree, then grlex. A popped term has at most three
// successors: one degree more of its last input; the next input appended; its last input, if of degree 1, moved on by
// one. Inputs stand in the order of the costs of their first degrees, so that no successor is cheaper.
void MultiIndexSet::generate_largest_weight(const IndexSetSpec& spec, const Control& control) {
  const auto size = static_cast<std::size_t>(count_terms(spec).exact);
  const Index limit_inputs = most_inputs(spec);
  const Index limit_total = spec.degree.value_or(kMaxDegree);
  Costs costs(spec);
  const auto exponents = [&](const Candidate& c) {
    std::vector<std::pair<Index, Index>> pairs{{costs.input(c.place), c.degree}};
    for (Index l = c.rest; l > 0; l = parent(l)) pairs.emplace_back(input(l), this->degree(l));
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  };
  const auto comes_later = [&](const Candidate& a, const Candidate& b) {
    if (rounded(a.cost) != rounded(b.cost)) return rounded(a.cost) > rounded(b.cost);
    if (a.total != b.total) return a.total > b.total;
    const auto x = exponents(a);
    const auto y = exponents(b);
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (x[i].first != y[i].first) return x[i].first > y[i].first;
      if (x[i].second != y[i].second) return x[i].second < y[i].second;
    }
    return x.size() < y.size();
  };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(comes_later)> queue(comes_later);
  const auto push = [&](std::int64_t rest_cost, Index rest_total, Index rest, Index place, Index degree, Index n_used) {
    if (place >= costs.n_places() || n_used > limit_inputs || rest_total + degree > limit_total) return;
    if (!spec.degrees.empty() && degree > spec.degrees[size_of(costs.input(place))]) return;
    queue.push({rest_cost + costs(place, degree), rest_total + degree, rest, place, degree, n_used});
  };
  append(-1, 0, 0);
  push(0, 0, 0, 0, 1, 1);
  while (parent_.size() < size && !queue.empty()) {
    if (parent_.size() % 256 == 0) control.check();
    const Candidate c = queue.top();
    queue.pop();
    const auto position = static_cast<Index>(parent_.size());
    append(c.rest, costs.input(c.place), c.degree);
    const std::int64_t rest_cost = c.cost - costs(c.place, c.degree);
    const Index rest_total = c.total - c.degree;
    push(rest_cost, rest_total, c.rest, c.place, c.degree + 1, c.n_used);
    push(c.cost, c.total, position, c.place + 1, 1, c.n_used + 1);
    if (c.degree == 1) push(rest_cost, rest_total, c.rest, c.place + 1, 1, c.n_used);
  }
}

}  // namespace gegenbauer
