#include "gegenbauer/multi_index.hpp"

#include <cmath>
#include <map>
#include <sstream>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "index_set_counts.hpp"

namespace gegenbauer {

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
    require(
        false, "the index set has ", size.str(), ", but at most ", kMaxTerms, " can be handled",
        Advice{Way{"lower", {"`degree`", "`n_terms`", "`max_interaction`"}}, Way{"use fewer inputs (`n_features`)"}});
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

}  // namespace gegenbauer
