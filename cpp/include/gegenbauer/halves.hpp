#pragma once
/// The inputs of an index set in two halves: every multi-index is a left part next to a right part. No floats.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "gegenbauer/multi_index.hpp"

namespace gegenbauer {

using Exponents = std::vector<std::int32_t>;

[[nodiscard]] std::int32_t total_degree(const Exponents& k);

/// Lower total degrees first, then larger degrees of earlier inputs.
struct Graded {
  bool operator()(const Exponents& a, const Exponents& b) const;
};

struct ExponentsHash {
  std::size_t operator()(const Exponents& k) const {
    std::size_t hash = 14695981039346656037U;  // Fowler, Noll and Vo
    for (const std::int32_t n : k) hash = (hash ^ static_cast<std::size_t>(n)) * 1099511628211U;
    return hash;
  }
};

/// Where each multi-index of a list stands in it.
using Positions = std::unordered_map<Exponents, std::int32_t, ExponentsHash>;

[[nodiscard]] Positions positions(const std::vector<Exponents>& list);

struct Half {
  Index first_input = 0;
  std::vector<Exponents> parts;       ///< distinct, graded and so downward closed; the first is the constant
  std::vector<std::int32_t> of_term;  ///< position of each term's part

  [[nodiscard]] Index size() const { return static_cast<Index>(parts.size()); }
};

struct Halves {
  Half left;
  Half right;  ///< of a single input, which has no right half: the constant alone, as a function of input 0
};

/// Cost O(L) beside sorting the parts.
[[nodiscard]] Halves split_in_halves(const MultiIndexSet& indices);

}  // namespace gegenbauer
