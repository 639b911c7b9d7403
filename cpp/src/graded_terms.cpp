#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gegenbauer/multi_index.hpp"
#include "gegenbauer/sizes.hpp"
#include "index_set_counts.hpp"

namespace gegenbauer {

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
  for (Index t = 0; t < m; ++t) cap[size_of(t)] = std::min(degree, most_functions(spec, t));

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

}  // namespace gegenbauer
