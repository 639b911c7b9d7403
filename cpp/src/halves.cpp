#include "gegenbauer/halves.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

Half make_half(const MultiIndexSet& indices, Index first, Index last) {
  Half half;
  half.first_input = first;
  // A term's part is its parent's, or that times the term's own factor. Two ways to the same part are distinguished by
  // their exponents, which are looked at once for each way.
  std::vector<Index> factor_start{0};
  for (Index t = first; t < last; ++t) factor_start.push_back(factor_start.back() + indices.max_degree(t));
  std::unordered_map<Index, std::int32_t> child;
  std::map<Exponents, std::int32_t, Graded> found{{Exponents(size_of(last - first), 0), 0}};
  std::vector<std::int32_t> part(size_of(indices.size()), 0);
  for (Index l = 1; l < indices.size(); ++l) {
    const std::int32_t above = part[size_of(indices.parent(l))];
    const Index t = indices.input(l);
    part[size_of(l)] = above;
    if (t < first || t >= last) continue;
    const Index way = above * factor_start.back() + factor_start[size_of(t - first)] + indices.degree(l) - 1;
    const auto known = child.find(way);
    if (known != child.end()) {
      part[size_of(l)] = known->second;
      continue;
    }
    const Exponents whole = indices.exponents(l);
    const auto place = found
                           .try_emplace(Exponents(whole.begin() + first, whole.begin() + last),
                                        static_cast<std::int32_t>(found.size()))
                           .first;
    child.emplace(way, place->second);
    part[size_of(l)] = place->second;
  }
  std::vector<std::int32_t> position(found.size());
  for (const auto& [k, id] : found) {
    position[size_of(id)] = static_cast<std::int32_t>(half.parts.size());
    half.parts.push_back(k);
  }
  for (std::int32_t& id : part) id = position[size_of(id)];
  half.of_term = std::move(part);
  return half;
}

}  // namespace

std::int32_t total_degree(const Exponents& k) { return std::accumulate(k.begin(), k.end(), std::int32_t{0}); }

bool Graded::operator()(const Exponents& a, const Exponents& b) const {
  const std::int32_t x = total_degree(a);
  const std::int32_t y = total_degree(b);
  return x != y ? x < y : a > b;
}

Positions positions(const std::vector<Exponents>& list) {
  Positions position;
  position.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) position.emplace(list[i], static_cast<std::int32_t>(i));
  return position;
}

Halves split_in_halves(const MultiIndexSet& indices) {
  const Index middle = std::max<Index>(1, indices.n_inputs() / 2);
  Half left = make_half(indices, 0, middle);
  if (indices.n_inputs() > 1) return {std::move(left), make_half(indices, middle, indices.n_inputs())};
  return {std::move(left), {0, {{0}}, std::vector<std::int32_t>(size_of(indices.size()), 0)}};
}

}  // namespace gegenbauer
