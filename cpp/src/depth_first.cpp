#include "gegenbauer/depth_first.hpp"

#include <algorithm>

#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

DepthFirst::DepthFirst(const TensorBasis& basis) {
  const auto n_terms = size_of(basis.n_terms());
  const std::int32_t* parent = basis.parents();
  // children of term l: child[start[l] .. start[l + 1])
  std::vector<std::int32_t> start(n_terms + 1, 0);
  for (std::size_t l = 1; l < n_terms; ++l) ++start[size_of(parent[l]) + 1];
  for (std::size_t l = 0; l < n_terms; ++l) start[l + 1] += start[l];
  std::vector<std::int32_t> child(n_terms);
  std::vector<std::int32_t> next(start.begin(), start.end() - 1);
  for (std::size_t l = 1; l < n_terms; ++l) child[size_of(next[size_of(parent[l])]++)] = static_cast<std::int32_t>(l);
  struct Waiting {
    std::int32_t term;
    Index slot;
  };
  std::vector<Waiting> stack{{0, 0}};
  order_.reserve(n_terms);
  while (!stack.empty()) {
    const auto [term, slot] = stack.back();
    stack.pop_back();
    order_.push_back(term);
    branches_.push_back({slot, Index{basis.factors()[term]}, 0});
    n_slots_ = std::max(n_slots_, slot + 1);
    for (std::int32_t i = start[size_of(term)]; i < start[size_of(term) + 1]; ++i) {
      const std::int32_t l = child[size_of(i)];
      if (start[size_of(l)] < start[size_of(l) + 1]) {
        stack.push_back({l, slot + 1});
      } else {
        order_.push_back(l);
        leaf_factors_.push_back(basis.factors()[l]);
        ++branches_.back().n_leaves;
      }
    }
  }
}

}  // namespace gegenbauer
