#pragma once
/// Y'G for few targets: a term is used as it is evaluated, once for every target, and never stored.

#include "gegenbauer/design.hpp"
#include "gegenbauer/parallel.hpp"

namespace gegenbauer {

/// Targets up to which that pays; beyond, packed products do.
inline constexpr Index kFewTargets = 8;

/// cross += Y'G for 1 .. kFewTargets targets. Items are runs of samples of a fixed length, and their sums are added in
/// order: the threads do not change a bit.
void accumulate_cross_of_few(const Design& design, MatrixRef cross, double work, const Control& control);

}  // namespace gegenbauer
