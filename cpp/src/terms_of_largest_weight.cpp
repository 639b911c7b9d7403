#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "gegenbauer/multi_index.hpp"
#include "gegenbauer/sizes.hpp"
#include "index_set_counts.hpp"

namespace gegenbauer {

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
      if (spectrum_.uses(t) && most_functions(spec, t) > 0) order_.push_back(t);
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
    const Index last = std::min(2 * degree, spectrum_.n_functions(input));
    const std::vector<double> logs = spectrum_.log_function_variances(input, last);
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
    if (degree > most_functions(spec, costs.input(place))) return;
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
