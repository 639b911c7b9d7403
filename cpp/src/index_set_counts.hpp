#pragma once
/// What follows from the specification of an index set before any of its terms is made.

#include "gegenbauer/multi_index.hpp"

namespace gegenbauer {

inline constexpr Index kMaxDegree = 100'000;

/// Inputs that a term may use.
[[nodiscard]] Index most_inputs(const IndexSetSpec& spec);

/// Functions of an input that a set may use: as many as there are, and as IndexSetSpec::degrees allow.
[[nodiscard]] Index most_functions(const IndexSetSpec& spec, Index input);

/// The degree given, or the smallest whose set has n_terms terms.
[[nodiscard]] Index resolve_degree(const IndexSetSpec& spec);

}  // namespace gegenbauer
