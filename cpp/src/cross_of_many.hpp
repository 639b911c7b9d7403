#pragma once
/// Y'G and (Y - G W)'G for many targets: what is left of a group of targets is made and used while it is in the cache.

#include "gegenbauer/design.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

/// Weights (L, K) as the left side of W'G', the last term first.
[[nodiscard]] PackedPanels pack_weights(const ConstMatrixRef& weights, const Control& control);

/// cross += (Y - G W)'G, or Y'G without weights; the norm of Y - G W. An item is a group of targets, whose rows of the
/// result it owns, for one block of samples.
double accumulate_cross_of_many(const Design& design, const PackedPanels* weights, MatrixRef cross,
                                const Control& control);

}  // namespace gegenbauer
